"""Layers and heads of each kind, where a decoder is not as tall or wide as its encoder; and what limits there are."""

import pytest
import torch

from attnviz.models.huggingface import load
from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import ALL, DECODERS, ENCODERS, Recipe


def test_kinds_of_different_shape_keep_their_own(model):
    trace = model("bart").trace("A cat sat.", tgt_text="I love you.")
    shapes = {"encoder_self": (2, 5), "decoder_self": (3, 3), "cross": (3, 3)}
    assert model("bart").shapes == shapes
    assert {kind: trace.shape(kind) for kind in trace.kinds} == shapes
    assert {kind: tuple(trace.attn(kind).shape[:2]) for kind in trace.kinds} == shapes
    assert (trace.n_layers, trace.n_heads) == (model("bart").n_layers, model("bart").n_heads) == (3, 5)
    assert {key[0] for key in trace.layers} == {"encoder", "decoder"}
    assert {stack: max(layer for of, layer in trace.layers if of == stack) for stack in ("encoder", "decoder")} == {
        "encoder": 1,
        "decoder": 2,
    }


def test_a_head_or_layer_that_a_kind_lacks_is_named(model):
    trace = model("bart").trace("A cat sat.", tgt_text="I love you.")
    with pytest.raises(ValueError, match="There is no head 4: this model has cross heads 0 to 2"):
        trace.attn("cross", layer=0, head=4)
    with pytest.raises(ValueError, match="There is no layer 2: this model has encoder_self layers 0 to 1"):
        trace.attn("encoder_self", layer=2)


@pytest.mark.parametrize("name", ALL)
def test_a_model_says_what_it_takes_and_gives(name, model):
    loaded = model(name)
    expected = ("text", "pair") if name in ENCODERS else ("text",) if name in DECODERS else ("src", "tgt")
    assert loaded.inputs.names == expected
    assert loaded.writes == (name not in ENCODERS)
    assert loaded.writes_logits == (name != "electra")  # it was saved without a head over the vocabulary
    assert loaded.name == name
    assert loaded.languages == ()
    assert loaded.n_parameters > 1000


def test_roberta_has_two_positions_fewer_than_its_table(model):
    assert model("bert").text.max_tokens == 61
    assert model("roberta").text.max_tokens == 59
    assert len(model("roberta").trace("cat " * 90).tokens("src")) == 59


@pytest.mark.parametrize(
    ("model", "config", "changed"),
    [
        ("Data2VecTextForMaskedLM", "Data2VecTextConfig", {}),
        ("XmodForMaskedLM", "XmodConfig", {"default_language": "en_XX"}),
        ("EsmForMaskedLM", "EsmConfig", {"mask_token_id": 4}),
    ],
)
def test_others_count_their_positions_as_roberta_does(model, config, changed, tmp_path):
    roberta = ENCODERS["roberta"]
    folder = checkpoints.save(tmp_path / "model", Recipe(model, config, roberta.sizes | changed, roberta.tokenizer))
    loaded = load(folder, device=torch.device("cpu"), dtype=torch.float32)
    assert loaded.text.max_tokens == 59
    assert len(loaded.trace("cat " * 90).tokens("src")) == 59


def test_a_prompt_that_fills_the_model_is_cut_and_still_continued_by_one(model):
    trace = model("gpt2").trace("cat " * 90)
    assert len(trace.query_tokens("decoder_self")) == 61
    assert len(trace.tokens("tgt")) == 62
    steps = list(model("gpt2").stepwise("cat " * 90, max_tokens=62, new_tokens=9))
    assert len(steps) == 61
