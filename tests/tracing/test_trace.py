"""A trace says what ran: its maps against the definition, its labels, and what it does not have."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from attnviz.text.tokens import Token
from attnviz.tracing.record import CUT, Sentence
from attnviz.tracing.recorder import GroupedCalls
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Site
from tests.each_case import each_case
from tests.tracing.conftest import D_K, HEADS, LAYERS


def test_maps_have_the_shape_of_their_tokens(trace):
    for kind in trace.kinds:
        q_len, k_len = len(trace.query_tokens(kind)), len(trace.key_tokens(kind))
        assert trace.attn(kind).shape == (LAYERS, HEADS, q_len, k_len)
        assert trace.attn(kind, layer=1).shape == (HEADS, q_len, k_len)
        assert trace.attn(kind, layer=1, head=2).shape == trace.mask(kind).shape == (q_len, k_len)
        assert trace.attn(kind).dtype is torch.float32
    assert trace.attn("cross").shape[2] != trace.attn("cross").shape[3]


def test_one_head_equals_its_part_of_all(trace):
    everything = trace.attn("cross")
    for layer in range(LAYERS):
        for head in range(HEADS):
            torch.testing.assert_close(trace.attn("cross", layer=layer, head=head), everything[layer, head])


def test_one_head_reads_the_key_of_its_own_group():
    draw = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, heads, 5, D_K, generator=draw) for heads in (6, 2))
    repeated = key.repeat_interleave(3, dim=1)
    site, tokens = Site("encoder_self", 0), tuple(Token(text, at, at, at + 1) for at, text in enumerate("abcde"))
    calls = GroupedCalls({site: AttentionCall(query, repeated, repeated, D_K**-0.5)})
    trace = Trace(calls, {}, {}, (Sentence(src=tokens),))
    wanted = (query @ repeated.mT * D_K**-0.5).softmax(dim=-1)[0]
    assert calls.as_kept(site).key.shape[1] == 2
    for head in range(6):
        one = trace.one_layer("encoder_self", 0, head)
        for attn in (trace.attn("encoder_self", layer=0, head=head), one.attn("encoder_self", layer=0, head=0)):
            torch.testing.assert_close(attn, wanted[head])


@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize("head", range(6))
def test_a_head_whose_key_or_value_differs_from_its_groups_keeps_its_own(part: str, head: int):
    """As after an intervention on one head."""
    query, key = (torch.randn(1, heads, 5, D_K) for heads in (6, 2))
    repeated, site = key.repeat_interleave(3, dim=1), Site("encoder_self", 0)
    own = repeated.clone()
    own[:, head] += 1
    call = replace(AttentionCall(query, repeated, repeated, 1.0), **{part: own})
    kept = GroupedCalls({site: call})[site]
    assert torch.equal(kept.key, call.key)
    assert torch.equal(kept.value, call.value)


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_attn_and_scores_follow_from_input_and_memory_by_definition(model, trace, kind):
    stack = model.model.encoder if kind == "encoder_self" else model.model.decoder
    for layer in range(LAYERS):
        attention = stack.layers[layer].cross_attention if kind == "cross" else stack.layers[layer].self_attention
        query, key = attention.W_q(trace.input_(kind, layer)), attention.W_k(trace.call(kind, layer).memory[0])
        for head in range(HEADS):
            columns = slice(head * D_K, (head + 1) * D_K)
            scores = query[:, columns] @ key[:, columns].T / math.sqrt(D_K)
            torch.testing.assert_close(trace.scores(kind, layer=layer, head=head), scores, rtol=1e-5, atol=1e-5)
            weights = scores.masked_fill(~trace.mask(kind, layer=layer, head=head), -math.inf).softmax(dim=-1)
            torch.testing.assert_close(trace.attn(kind, layer=layer, head=head), weights, rtol=1e-5, atol=1e-6)


def test_context_is_what_the_fused_kernel_gave_and_what_the_weights_give(trace):
    for kind in trace.kinds:
        for layer in range(LAYERS):
            call = trace.call(kind, layer)
            fused = F.scaled_dot_product_attention(call.query, call.key, call.value, attn_mask=call.mask)
            torch.testing.assert_close(trace.context(kind, layer), fused[0])
            by_weights = trace.attn(kind, layer=layer) @ call.value[0]
            torch.testing.assert_close(trace.context(kind, layer), by_weights, rtol=1e-5, atol=1e-6)


def test_rows_sum_to_one_and_the_decoder_never_looks_ahead(trace):
    for kind in trace.kinds:
        torch.testing.assert_close(trace.attn(kind).sum(-1), torch.ones(trace.attn(kind).shape[:-1]))
    future = torch.ones(trace.mask("decoder_self").shape, dtype=torch.bool).triu(1)
    assert (trace.attn("decoder_self")[..., future] == 0).all()
    assert torch.equal(trace.mask("decoder_self"), ~future)


def test_recording_changes_nothing(model, trace):
    src = torch.tensor([[token.id for token in trace.tokens("src")]])
    tgt_in = torch.tensor([[token.id for token in trace.query_tokens("cross")]])
    assert torch.equal(model.model(src, tgt_in), trace.logits)


def test_rows_are_labelled_with_what_goes_in_and_what_comes_out(trace):
    goes_in, comes_out = trace.query_tokens("cross"), trace.output_tokens("cross")
    assert [token.text for token in goes_in] == ["<bos:fr>", *(t.text for t in comes_out[:-1])]
    assert comes_out[-1].text == "<eos>"
    assert goes_in == trace.key_tokens("decoder_self")
    assert trace.output_tokens("encoder_self") is None


def test_what_the_model_writes_is_the_likeliest_next_token_of_each_row(model):
    trace = model.trace("I love you", to="fr", max_tokens=6)
    logits = trace.logits[0].index_fill(1, torch.tensor(model.codec.never_generated), -math.inf)
    written = [token.id for token in trace.output_tokens("cross") if token.text != CUT]
    assert logits.argmax(-1).tolist()[: len(written)] == written


def test_a_cut_decoding_says_so_in_its_last_row(model):
    trace = model.trace("I love you", to="fr", max_tokens=4)
    assert trace.sentences[0].cut
    assert trace.output_tokens("cross")[-1].text == CUT
    assert len(trace.query_tokens("cross")) == 5 == trace.attn("cross").shape[2]
    assert "cut after 4 tokens" in trace.info.notes[0]


def test_memory_grows_with_the_length_and_not_with_its_square(model):
    short, long = (model.trace("dog " * n, to="fr", tgt_text="un " * n).nbytes() for n in (50, 200))
    assert long < 5.5 * short


@each_case(
    ("call", "says"),
    [
        (lambda t: t._kind("self"), "kind must be one of encoder_self, decoder_self, cross, not 'self'"),
        (lambda t: t.attn("cross", layer=3), "layers 0 to 2"),
        (lambda t: t.attn("cross", layer=0, head=5), "heads 0 to 4"),
        (lambda t: t.attn("cross", item=1), "holds 1"),
        (lambda t: t.layer_output("encoder", 9), "no output of encoder layer 9"),
    ],
)
def test_what_is_not_there_is_refused_in_a_sentence(trace, call, says):
    with pytest.raises(ValueError, match=says):
        call(trace)
