"""One class a mechanism, opened from a folder, against its row in docs/reference/models.md and against transformers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers.models.auto import modeling_auto

import attnviz
from attnviz.models.huggingface import ModelError
from attnviz.models.huggingface.returned_maps import unroll_band
from tests.models.huggingface import table
from tests.models.huggingface.class_rows import (
    fed,
    make_trace,
    output_difference,
    row_of,
    steps_difference,
    weights_difference,
)
from tests.models.huggingface.every_class import save_class
from tests.models.huggingface.shown import TEXT

ANEW = "make docs/reference/models.md anew: make models-table"
LINES = table.DOCUMENT.read_text(encoding="utf-8").splitlines()
ROWS = {name: cells for name, (_, cells) in table.read_class_rows(LINES).items()}
SAMPLE = {
    "SplinterModel": "base",  # without a head, reads pairs
    "OpenAIPrivacyFilterModel": "base",  # of token classifiers
    "Mistral4Model": "base",  # looks back
    "Emu3ForCausalLM": "causal",  # its config is in no mapping
    "VoxtralForConditionalGeneration": "seq2seq",  # a decoder among encoder-decoders
    "MiniMaxForCausalLM": "causal",  # returns states among weights
    "LongformerForMaskedLM": "masked",  # returns bands
    "FunnelForMaskedLM": "masked",  # pools
    "ReformerForMaskedLM": "masked",  # five axes
    "RwkvForCausalLM": "causal",  # three axes
    "DiffLlamaForCausalLM": "causal",  # attends twice a layer
    "ImageGPTModel": "base",  # ids of colours
    "CanineModel": "base",  # no vocabulary
    "Blip2ForConditionalGeneration": "multimodal",  # needs a picture
    "DPRQuestionEncoder": "base",  # returns one vector, and an encoder in it returns hidden states
    "DiaModel": "base",  # several codes at each position
    "Gemma4ForCausalLM": "causal",  # layers whose heads have different sizes
}


@pytest.fixture(params=SAMPLE)
def name(request) -> Iterator[str]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield request.param
    torch.set_num_threads(threads)


@pytest.mark.filterwarnings("ignore")  # transformers' own, of configs smaller than any that is published
def test_a_class_is_shown_or_refused_as_the_table_says(name, tmp_path):
    found = row_of(getattr(transformers, name), SAMPLE[name], tmp_path / "model")
    said, numbers = ROWS[name], (found.difference, found.own, found.steps)
    assert [*said[:3], *said[6:]] == [*found.cells()[:3], *found.cells()[6:]], ANEW
    assert all(number < 1e-4 for number in numbers if number is not None)


@pytest.mark.skipif(
    f"Every class that transformers {transformers.__version__} has" not in "\n".join(LINES),
    reason="the table is of the pinned transformers, which `make test-newest` does not have",
)
def test_the_table_has_every_class_that_writes_or_guesses_text():
    mappings = (
        modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    )
    named = {one for mapping in mappings for names in mapping.values() for one in _names(names)}
    assert named - set(ROWS) == set(), ANEW


def _names(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def saved(name: str, sort: str, folder: Path) -> tuple[Any, Any]:
    """Save a class, open it by attnviz, and load it by transformers with its eager attention."""
    kind: Any = getattr(transformers, name)
    save_class(kind, sort, folder)
    model = attnviz.load(folder, device="cpu", dtype="float32")
    return model, kind.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()


@pytest.mark.filterwarnings("ignore")
@torch.inference_mode()
def test_a_band_is_unrolled_to_the_keys_that_it_stands_for(tmp_path):
    """Held against queries and keys of the first layer, under the window's own mask."""
    model, peer = saved("LongformerForMaskedLM", "masked", tmp_path / "longformer")
    trace, caught = model.trace(TEXT), {}
    own = peer.longformer.encoder.layer[0].attention.self
    for part in ("query", "key"):
        getattr(own, part).register_forward_hook(
            lambda module, given, made, part=part: caught.update({part: made.clone()})
        )
    peer(**fed(trace))
    length = len(trace.query_tokens("encoder_self"))
    query, key = (made.view(-1, own.num_heads, own.head_dim)[:length].transpose(0, 1) for made in caught.values())
    scores = query @ key.mT / own.head_dim**0.5
    far = (torch.arange(length)[:, None] - torch.arange(length)).abs() > own.one_sided_attn_window_size
    assert bool(far.any())
    torch.testing.assert_close(trace.attn("encoder_self", layer=0), scores.masked_fill(far, -torch.inf).softmax(-1))


def test_the_columns_of_a_band_beyond_the_text_are_left_out():
    band = torch.tensor([[0.0, 1, 2], [3, 4, 5], [6, 7, 0]])
    assert unroll_band(band, 1).tolist() == [[1, 2, 0], [3, 4, 5], [0, 6, 7]]


@pytest.mark.filterwarnings("ignore")
@torch.inference_mode()
def test_one_softmax_over_two_groups_of_keys_is_shown_as_its_two_parts(tmp_path):
    model, peer = saved("T5Gemma2ForConditionalGeneration", "seq2seq", tmp_path / "t5gemma2")
    assert ROWS["T5Gemma2ForConditionalGeneration"][2] == "joint"
    trace = make_trace(model)
    sums = trace.attn("decoder_self").sum(-1) + trace.attn("cross").sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))
    assert float(trace.attn("cross").sum(-1).max()) < 0.99
    out = peer(**fed(trace), output_attentions=True)
    for kind, layers in (("decoder_self", out.decoder_attentions), ("cross", out.cross_attentions)):
        torch.testing.assert_close(trace.attn(kind), torch.cat(layers))
    assert any("sum to 1 together" in note for note in trace.info.notes)


@pytest.mark.filterwarnings("ignore")
def test_a_prompt_that_is_read_in_both_directions_is_shown_as_an_encoder(tmp_path):
    """As PaliGemma's default pass computes it; its eager pass without token types hides later tokens."""
    model, peer = saved("PaliGemmaForConditionalGeneration", "multimodal", tmp_path / "paligemma")
    trace = make_trace(model)
    found = [find(tmp_path / "paligemma", type(peer), trace) for find in (output_difference, weights_difference)]
    assert all(number is not None and number < 1e-4 for number in found)
    assert trace.attn("encoder_self").triu(1).any()
    assert any("attend to each other in both directions" in note for note in trace.info.notes)


@pytest.mark.filterwarnings("ignore")
def test_steps_keep_the_keys_that_a_cache_of_the_models_own_forgets(tmp_path):
    """UnlimitedOCR's cache keeps what it reads at once and the last 8 tokens; a step shows a key for each token."""
    model, _ = saved("UnlimitedOcrForConditionalGeneration", "multimodal", tmp_path / "ocr")
    assert steps_difference(model) < 1e-4
    assert any("keeps its prompt and the last 8 tokens" in note for note in make_trace(model).info.notes)


@pytest.mark.filterwarnings("ignore")
def test_an_encoder_without_maps_is_named_beside_a_decoder_that_has_some(tmp_path):
    model, _ = saved("LongT5ForConditionalGeneration", "seq2seq", tmp_path / "longt5")
    assert ROWS["LongT5ForConditionalGeneration"][2] == "weights"
    assert model.kinds == ("decoder_self", "cross")
    assert any(
        note.startswith("What transformers returns for the encoder of longt5 is not attention")
        for note in make_trace(model).info.notes
    )


@pytest.mark.filterwarnings("ignore")
def test_a_row_that_is_no_softmax_is_named_where_it_stands(tmp_path):
    save_class(transformers.CpmAntForCausalLM, "causal", tmp_path / "cpm")
    with pytest.raises(ModelError, match=r"in layer 0 row \d of head \d sums to .*: transformers cuts off the columns"):
        attnviz.load(tmp_path / "cpm", device="cpu", dtype="float32")
