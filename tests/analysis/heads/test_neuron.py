"""A weight taken apart: its pieces add up to the trace's own score and weight, with bias, mask and grouped keys too."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz
from attnviz.analysis.heads.neuron import neuron
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Site


@pytest.fixture(scope="module")
def trace() -> Trace:
    return tiny_translator().trace("I love you.", to="fr", tgt_text="je t'aime")


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_the_pieces_add_up_to_the_trace(trace, kind) -> None:
    attn, scores = trace.attn(kind, layer=1, head=2), trace.scores(kind, layer=1, head=2)
    for query in range(attn.shape[0]):
        pair = neuron(trace, kind, layer=1, head=2, query=query, key=1)
        assert pair.dot == pytest.approx(float((pair.query * pair.key).sum()), abs=1e-12)
        assert pair.score == pytest.approx(pair.dot / np.sqrt(len(pair.query)), abs=1e-9)
        assert np.allclose(pair.scores, scores[query], atol=1e-5)
        assert np.allclose(pair.attn, attn[query], atol=1e-6)
        assert float(pair.table()["adds_to_score"].sum()) == pytest.approx(pair.score, abs=1e-9)


def by_hand(**parts) -> Trace:
    """One head, one query [1, 2, 3], keys [1, 0, 0], [0, 1, 0], [0, 0, -1], scale 0.5."""
    query = torch.tensor([[[[1.0, 2.0, 3.0]]]])
    key = torch.tensor([[[[1.0, 0, 0], [0, 1, 0], [0, 0, -1]]]])
    call = AttentionCall(query, key, key, 0.5, **parts)
    tokens = attnviz.from_tensors(np.eye(3), ["a", "b", "c"]).tokens("src")
    return Trace({Site("cross", 0): call}, {}, {}, (Sentence(tokens, tokens[:1], cut=True),))


def test_by_hand() -> None:
    pair = neuron(by_hand(), "cross", layer=0, head=0, query=0, key=2)
    assert pair.product.tolist() == [0, 0, -3]
    assert pair.scores.tolist() == [0.5, 1.0, -1.5]
    assert pair.score == -1.5
    assert np.allclose(pair.attn, np.exp([0.5, 1.0, -1.5]) / np.exp([0.5, 1.0, -1.5]).sum())
    assert pair.order().tolist() == [0, 1, 2]


def test_a_bias_adds_to_the_score_and_a_mask_takes_keys_out() -> None:
    bias = torch.tensor([[[[0.0, 0.25, 2.0]]]])
    mask = torch.tensor([[[[True, False, True]]]])
    pair = neuron(by_hand(bias=bias, mask=mask), "cross", layer=0, head=0, query=0, key=2)
    assert (pair.bias, pair.score) == (2.0, 0.5)
    assert pair.attn.tolist() == pytest.approx([0.5, 0, 0.5])
    blind = by_hand(mask=torch.zeros(1, 1, 1, 3, dtype=torch.bool))
    assert neuron(blind, "cross", layer=0, head=0, query=0, key=0).attn.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("wrong", "said"), [({"head": 9}, "head 9"), ({"query": 99}, "query 99"), ({"key": -1}, "key -1")]
)
def test_positions_that_are_not_there_are_refused(trace, wrong, said) -> None:
    with pytest.raises(ValueError, match=said):
        neuron(trace, "cross", **({"layer": 0, "head": 0, "query": 0, "key": 0} | wrong))


def test_heads_are_counted_by_kind() -> None:
    trace = by_hand()
    call = trace.call("cross", 0)
    wider = replace(call, query=call.query.repeat(1, 2, 1, 1), key=call.key.repeat(1, 2, 1, 1))
    both = replace(trace, calls={Site("encoder_self", 0): wider, **trace.calls})
    with pytest.raises(ValueError, match="no head 1"):
        neuron(both, "cross", layer=0, head=1, query=0, key=0)


def test_bare_weights_say_that_they_have_no_queries() -> None:
    with pytest.raises(ValueError, match="bare weights"):
        neuron(attnviz.from_tensors(np.eye(2), ["a", "b"]), "encoder_self", layer=0, head=0, query=0, key=0)


def test_half_precision_is_taken_apart_too(trace) -> None:
    call = trace.call("cross", 0)
    half = replace(call, query=call.query.bfloat16(), key=call.key.bfloat16())
    other = replace(trace, calls={**trace.calls, Site("cross", 0): half})
    pair = neuron(other, "cross", layer=0, head=0, query=0, key=0)
    assert np.allclose(pair.attn, other.attn("cross", layer=0, head=0)[0], atol=1e-6)
