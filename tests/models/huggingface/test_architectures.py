"""Architectures beyond the first sixteen: each shown as transformers' own class computes it, or refused truthfully."""

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
import transformers
from transformers import cache_utils
from transformers.models.inkling2 import modeling_inkling2 as inkling2

import attnviz
from attnviz.maps.selection import select
from attnviz.masks.masks import MaskBench, MasksState
from attnviz.models.huggingface import load
from attnviz.models.huggingface.checkpoint_model import _layer_note
from attnviz.models.huggingface.network import attention_interface
from attnviz.models.huggingface.network.network import _without_window
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from tests.models.huggingface import architectures
from tests.models.huggingface.architectures import (
    HYBRIDS,
    NO_REFERENCE,
    NOT_TEXT,
    REPLAYED,
    SHOWN,
    WATCHED,
    WITHOUT_ATTENTION,
)
from tests.models.huggingface.refused import CPU, refusal

TEXT, TARGET = "The quick brown fox jumps over the dog.", "A cat sat on the mat."
CLOSE = {"atol": 5e-5, "rtol": 5e-5}
EAGER = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Callable[[str], Path]:
    return cache(lambda name: architectures.ALL[name](tmp_path_factory.mktemp("more") / name))


@pytest.fixture(scope="module")
def model(folder):
    return cache(lambda name: load(folder(name), **CPU))


def make_trace(loaded):
    """Trace a sentence, with its own text for a target where the model takes one."""
    if loaded.inputs.takes_target:
        return loaded.trace(TEXT, tgt_text=TARGET)
    return loaded.trace(TEXT, new_tokens=0 if loaded.inputs.is_prompt and loaded.writes else None)


@torch.inference_mode()
def own(folder: Path, trace) -> dict[str, torch.Tensor]:
    """Run the class that the checkpoint names on the same ids, with transformers' eager attention."""
    name = transformers.AutoConfig.from_pretrained(folder).architectures[0]
    peer = getattr(transformers, name).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    sentence = trace.sentences[0]
    src, tgt = (torch.tensor([[token.id for token in side]]) for side in (sentence.src, sentence.tgt_in))
    both = bool(sentence.src and sentence.tgt)
    given = {"input_ids": src if sentence.src else tgt}
    if "use_cache" in inspect.signature(peer.forward).parameters:  # or FSMT hides no later tokens
        given["use_cache"] = False
    if both:
        given |= {"decoder_input_ids": tgt, "decoder_attention_mask": torch.ones_like(tgt), "use_cache": False}
    base = peer if not name.endswith("Classification") else peer.base_model
    if "Classification" in name:
        base = getattr(peer, "model", None) or peer.transformer
    out = base(**given, output_attentions=True)
    found = {kind: getattr(out, name) for kind, name in EAGER.items()} if both else {trace.kinds[0]: out.attentions}
    return {kind: torch.stack([layer[0] for layer in layers if layer is not None]) for kind, layers in found.items()}


@pytest.mark.parametrize("name", sorted({*SHOWN, *HYBRIDS, *WATCHED, *REPLAYED} - NO_REFERENCE))
def test_every_layer_and_head_is_that_of_the_class_that_was_saved(name, model, folder):
    trace = make_trace(model(name))
    expected = own(folder(name), trace)
    assert set(trace.kinds) == set(expected)
    for kind, weights in expected.items():
        torch.testing.assert_close(trace.attn(kind), weights, **CLOSE)
        assert float((trace.attn(kind).amax(-1) - trace.attn(kind).amin(-1)).max()) > 0.05  # far from even


@pytest.mark.parametrize(
    "name",
    [
        *("falcon_h1", "lfm2", "gemma2", "gemma3n_text", "gpt_oss", "t5gemma", "switch"),
        *("bloom", "gpt_neo", "falcon", "falcon_alibi", "fsmt", "openai", "mvp_decoder"),
        *("minimax_m3", "bamba", "nllb_moe", "granite_swa"),
    ],
)
def test_steps_on_a_cache_compute_what_one_pass_does(name, model):
    """Hybrids keep in the cache what their other layers need, too; sinks and caps are in force at every step."""
    loaded = model(name)
    assert loaded.has_cache == (name != "openai")
    how = {"tgt_text": TARGET} if loaded.inputs.takes_target else {"new_tokens": 3}
    steps = list(loaded.stepwise(TEXT, **how))
    last = steps[-1]
    tgt_text = loaded.decode_ids([token.id for token in last.prefix])[0]
    assert tgt_text
    whole = loaded.rerun(last.trace)
    for layer in range(whole.shape("decoder_self")[0]):
        torch.testing.assert_close(
            last.attn("decoder_self", layer=layer)[:, -1], whole.attn("decoder_self", layer=layer)[:, -1], **CLOSE
        )
    torch.testing.assert_close(last.logits, whole.logits[0, -1], atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("name", ["bart_classifier", "t5_classifier"])
def test_a_classifier_writes_nothing_and_reads_its_source_again(name, model):
    loaded = model(name)
    assert not loaded.writes
    trace = loaded.trace(TEXT)
    assert trace.logits is None
    src, fed = trace.sentences[0].src, trace.sentences[0].tgt_in
    assert [token.id for token in fed[1:]] == [token.id for token in src[:-1]]
    assert "writes no text" in trace.info.notes[0]
    with pytest.raises(ValueError, match="writes no text"):
        loaded.stepwise(TEXT)


def test_heads_that_write_are_found_under_their_other_names(model):
    assert [model(name).writes for name in ("gpt2_double_heads", "bert_generation_decoder", "gemma3_pictures")] == [
        True,
    ] * 3


def test_an_encoder_alone_is_read_from_a_family_of_pairs(model):
    assert model("t5_encoder").inputs.names == ("text", "pair")
    assert model("t5_encoder").kinds == ("encoder_self",)


@pytest.mark.parametrize("name", WITHOUT_ATTENTION)
def test_a_model_without_attention_is_told_that_it_has_none(name, folder):
    assert refusal(folder(name)) == (
        f"No layer of this model ({name}) returns attention weights, so there is nothing to show."
    )


@pytest.mark.parametrize("name", NOT_TEXT)
def test_a_model_of_sound_is_told_what_it_is_given(name, folder):
    assert refusal(folder(name)) == "'whisper' is not a text model that attnviz can read: its input is input features."


def test_a_layers_output_is_the_stream_that_it_attends_in(model):
    """Gemma 3n carries several streams side by side."""
    trace = make_trace(model("gemma3n_text"))
    tokens = len(trace.query_tokens("decoder_self"))
    assert trace.layer_output("decoder", 2).shape == (tokens, 84)


@pytest.mark.parametrize(("name", "argument"), [("gemma2", "softcap"), ("t5gemma", "softcap"), ("gpt_oss", "s_aux")])
def test_without_its_cap_or_its_sink_a_model_is_refused(name, argument, folder, monkeypatch):
    right = attention_interface.call_from_tensors

    def without(tensors, mask, given):
        return right(tensors, mask, given | {argument: None})

    monkeypatch.setattr(attention_interface, "call_from_tensors", without)
    assert "does not reproduce this model" in refusal(folder(name))


def test_what_a_row_lacks_went_to_the_sink(model):
    trace = make_trace(model("gpt_oss"))
    attn, sunk = trace.attn("decoder_self"), trace.sink_weights("decoder_self")
    assert sunk is not None
    torch.testing.assert_close(attn.sum(-1) + sunk, torch.ones_like(sunk))
    assert bool((sunk > 0).all())
    assert float(sunk.max()) > 0.3
    assert make_trace(model("gemma2")).sink_weights("decoder_self") is None


@pytest.mark.parametrize("name", REPLAYED)
def test_a_replay_says_what_it_leaves_out(name, model):
    loaded = model(name)
    trace = make_trace(loaded)
    assert trace.weights_only
    assert not trace.from_file
    assert trace.sentences[0].src_text == TEXT or trace.sentences[0].tgt_text == TEXT
    assert f"{name} does not use transformers' attention interface" in trace.info.notes[-1]
    assert "weights of 5 axes, which no map can show" in trace.info.notes[-1]
    for ask in (lambda: trace.scores(trace.kinds[0]), lambda: loaded.rerun(trace), lambda: loaded.stepwise(TEXT)):
        with pytest.raises(ValueError, match="no queries, keys and values"):
            ask()


def test_a_long_text_of_a_replay_is_cut_where_its_weights_would_not_fit(model, monkeypatch):
    monkeypatch.setattr("attnviz.models.huggingface.replay._MOST_WEIGHTS", 9 * 20**2)
    with pytest.warns(UserWarning, match="The memory for its weights is enough for up to 20 tokens"):
        trace = model("prophetnet").trace("cat " * 90)
    assert trace.attn("decoder_self").shape == (3, 3, 20, 20)
    assert "only the first 19 of" in trace.info.notes[0]


def test_a_long_text_is_cut_where_a_trace_of_scores_would_not_fit(model, monkeypatch):
    monkeypatch.setattr("attnviz.models.huggingface.network.network._MOST_SCORES", 15 * 20**2)
    with pytest.warns(UserWarning, match="The memory for its scores is enough for up to 20 tokens"):
        trace = model("bloom").trace("cat " * 90, new_tokens=0)
    assert trace.attn("decoder_self").shape == (3, 5, 20, 20)
    assert "only the first 20 of" in trace.info.notes[0]


@pytest.mark.parametrize("name", ["gptj", "mpt", "deberta_v2", "xlnet", "xlm"])
def test_a_key_hidden_in_a_watched_pass_is_one_that_the_model_masks_itself(name, model, folder):
    loaded, hidden = model(name), 2
    trace = make_trace(loaded)
    kind = trace.kinds[0]
    sites = [Site(kind, layer) for layer in range(trace.shape(kind)[0])]

    def mask(q_len, k_len):
        seen = torch.ones(1, q_len, k_len, dtype=torch.bool)
        seen = seen.tril() if kind == "decoder_self" else seen
        return seen & (torch.arange(k_len) != hidden)

    found = loaded.rerun(trace, MaskOverride(sites, mask))
    ids = torch.tensor([[token.id for token in trace.query_tokens(kind)]])
    given = torch.ones_like(ids)
    given[0, hidden] = 0
    peer = getattr(transformers, transformers.AutoConfig.from_pretrained(folder(name)).architectures[0])
    peer = peer.from_pretrained(folder(name), attn_implementation="eager", dtype=torch.float32).eval()
    with torch.inference_mode():
        own = peer(input_ids=ids, attention_mask=given, output_attentions=True)
    rows = [row for row in range(ids.shape[1]) if row != hidden]
    for layer, weights in enumerate(own.attentions):
        torch.testing.assert_close(found.attn(kind, layer=layer)[:, rows], weights[0, :, rows], **CLOSE)
    assert not torch.allclose(found.attn(kind), trace.attn(kind), atol=1e-2)


def test_a_mask_that_is_lifted_shows_the_scores_under_it(model, folder):
    """MPT hides later keys after it has added ALiBi, so that the scores before the mask are known."""
    loaded = model("mpt")
    trace = make_trace(loaded)
    everything = MaskOverride([Site("decoder_self", 0)], lambda q_len, k_len: torch.ones(1, q_len, k_len).bool())
    found = loaded.rerun(trace, everything).attn("decoder_self", layer=0)
    torch.testing.assert_close(found, trace.scores("decoder_self", layer=0).softmax(-1), **CLOSE)
    assert float(found.triu(1).sum(-1).max()) > 0.1


def test_queries_and_keys_are_those_that_give_the_scores(model):
    """GPT-Neo does not scale; GPT-J and Falcon divide by √d_k. The scores of MPNet have a bias of its own."""
    calls = {
        name: make_trace(model(name)).call(model(name).kinds[0], 0) for name in ("gpt_neo", "gptj", "falcon", "mpnet")
    }
    assert [call.has_queries for call in calls.values()] == [True, True, True, False]
    assert calls["gpt_neo"].scale == 1
    assert [calls[name].scale for name in ("gptj", "falcon")] == pytest.approx([8**-0.5] * 2)


def test_hidden_states_are_batch_first_where_a_model_puts_the_length_first(model, folder):
    trace = make_trace(model("xlnet"))
    ids = torch.tensor([[token.id for token in trace.sentences[0].src]])
    peer = transformers.XLNetLMHeadModel.from_pretrained(folder("xlnet"), dtype=torch.float32).eval()
    with torch.inference_mode():
        own = peer(input_ids=ids, output_hidden_states=True).hidden_states
    for layer in range(-1, 2):
        torch.testing.assert_close(trace.layer_output("encoder", layer), own[layer + 1][0], **CLOSE)


def test_a_model_whose_scores_alone_are_known_takes_no_other_queries(model):
    loaded = model("bloom")
    with pytest.raises(ValueError, match="queries and keys cannot be changed here"):
        loaded.trace(TEXT, interventions=[attnviz.patch(make_trace(loaded), "decoder_self", what="query")])


@pytest.mark.parametrize(("name", "most"), [("deepseek_v32", 5), ("minimax_m3", 12)])
def test_an_indexer_hides_keys_that_no_mask_brings_back(name, most, model):
    loaded = model(name)
    trace = make_trace(loaded)
    seen = trace.layer_mask("decoder_self", 1)
    assert int(seen.sum(-1).max()) <= most < seen.shape[-1]
    every = MaskOverride([Site("decoder_self", 1)], lambda q_len, k_len: torch.ones(1, q_len, k_len).bool())
    found = loaded.rerun(trace, every)
    chosen = found.call("decoder_self", 1).chosen
    assert chosen is not None
    assert bool((found.attn("decoder_self", layer=1)[~chosen[0].expand_as(seen)] == 0).all())
    assert "hidden by the indexer" in select(trace, "decoder_self").left_out
    bench = MaskBench(loaded, trace, MasksState(rules=(("causal", ()),), layer=1))
    assert torch.equal(bench.mask, seen[0])
    assert bench.indexed is not None
    assert torch.equal(bench.indexed, ~seen[0] & torch.ones_like(seen[0]).tril())


def test_weights_beside_a_sink_are_those_that_ran_and_not_those_from_before_it(model, folder):
    trace = make_trace(model("granite_swa"))
    attn, sunk = trace.attn("decoder_self"), trace.sink_weights("decoder_self")
    torch.testing.assert_close(attn.sum(-1) + sunk, torch.ones_like(sunk))
    returned = own(folder("granite_swa"), trace)["decoder_self"]
    torch.testing.assert_close(attn / attn.sum(-1, keepdim=True), returned, **CLOSE)


def test_a_layer_that_combines_two_maps_is_refused(folder):
    said = refusal(folder("diffllama"))
    assert "3 layers computes decoder_self attention 2 times and combines the results" in said


def test_steps_that_are_not_one_pass_in_transformers_itself_are_explained(model):
    """Doge keeps a number of keys: of equal scores it keeps others in a longer text."""
    ids = [token.id for token in make_trace(model("doge")).sentences[0].tgt]
    assert "In transformers itself, the decoding steps of this model with a cache" in model("doge").explain_steps(ids)
    assert model("gpt_neo").explain_steps(ids) == ""


def test_a_cache_that_steps_do_not_take_is_not_used(model):
    assert not model("openai").has_cache
    assert all(step.trace.sentences[0].first_row == 0 for step in model("openai").stepwise(TEXT, new_tokens=2))


def test_one_attending_layer_is_told_in_the_singular():
    assert _layer_note((2,)) == "Only one layer of this model computes attention: its layer 2, shown as L0."


def test_layers_that_run_in_cycles_are_named_by_them_and_saved_with_their_names(model, tmp_path):
    trace = make_trace(model("hrm_text"))
    names = [trace.layer_name("decoder_self", layer) for layer in range(trace.shape("decoder_self")[0])]
    assert names == [
        "L0 (L0 cycle 1)", "L1 (L1 cycle 1)", "L2 (L0 cycle 2)", "L3 (L1 cycle 2)", "L4 (H0 cycle 1)",
        "L5 (H1 cycle 1)",
    ]  # fmt: skip
    assert any("run in cycles: L0 is L0 cycle 1, L1 is" in note for note in trace.info.notes)
    assert any("token_type_ids" in note for note in trace.info.notes)
    attnviz.save(trace, tmp_path / "trace.npz")
    assert attnviz.load_trace(tmp_path / "trace.npz").layer_name("decoder_self", 4) == names[4]
    assert make_trace(model("bloom")).layer_name("decoder_self", 1) == "L1"


def test_a_sink_of_each_query_takes_its_share():
    """Inkling 2 hands its attention one sink a query, beside a bias."""
    torch.manual_seed(0)
    query, key, value = torch.randn(2, 4, 5, 7), torch.randn(2, 2, 5, 7), torch.randn(2, 2, 5, 7)
    given = {"position_bias": torch.randn(2, 4, 5, 5), "sinks": torch.randn(2, 4, 5, 1), "scaling": 0.3}
    module = torch.nn.Module()
    module.num_key_value_groups = 2
    expected, _ = inkling2.eager_attention_forward(module, query, key, value, None, **given)
    found, _ = attention_interface.attention(module, query, key, value, None, **given)
    torch.testing.assert_close(found, expected, **CLOSE)


def test_a_cache_without_windows_keeps_the_states_of_layers_that_do_not_attend():
    """Inkling's layers keep several states beside keys and values."""
    layer = cache_utils.LinearAttentionAndSlidingWindowAttentionLayer(sliding_window=4, number_of_states=3)
    assert _without_window(layer).number_of_states == 3
