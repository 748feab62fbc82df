"""The browser follows a row back to the same shares that Python multiplies."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.analysis.contributions import multiply_mixes, rollout
from attnviz.analysis.mixing import alti_mixes, attention_mixes
from attnviz.analysis.residual import residual_maps
from attnviz.heads.flow.flow import FlowFacts, flow_payload
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

FOLLOW = """({ followBack, sublayersOf }, [bytes, by, row, residual]) => {
  const payload = globalThis.unpackFlow(Uint8Array.from(bytes));
  const { source, target, nodes, ribbons } = followBack(sublayersOf(payload, by), row, residual);
  const sums = Object.values(nodes).flat().map((shares) => [...shares].reduce((a, b) => a + b, 0));
  return { source: [...source], target: [...target], sums, ribbons };
}"""


@pytest.fixture(scope="module")
def follow(module):
    module("kit/js/unpack.js")("({ unpack }) => { globalThis.unpackFlow = unpack; }")
    script = module("heads/flow/js/mixing.js")
    return lambda payload, *asked: script(FOLLOW, [payload_bytes(payload), *asked])


@pytest.fixture(scope="module")
def model():
    return tiny_translator(n_heads=3, n_layers=2)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace("a big red dog", to="fr", tgt_text="un chien rouge")


def payload_of(trace, **more):
    return flow_payload(trace, {"rollout": attention_mixes(trace)} | more, FlowFacts())


@each_case("residual", [0.0, 0.5, 0.73, 1.0])
def test_a_rows_shares_are_rollouts(follow, trace, residual) -> None:
    expected = rollout(trace, residual=residual)
    for row in (0, 2):
        found = follow(payload_of(trace), "rollout", row, residual)
        assert found["source"] == pytest.approx(expected.source[row].tolist(), abs=1e-6)
        assert found["target"] == pytest.approx(expected.target[row].tolist(), abs=1e-6)
        assert sum(found["source"]) + sum(found["target"]) == pytest.approx(1, abs=1e-6)


def test_what_leaves_a_node_is_what_it_has(follow, trace) -> None:
    found = follow(payload_of(trace), "rollout", 2, 0.5)
    left: dict[tuple, float] = {}
    arrived: dict[tuple, float] = {("decoder", 2, 2): 1.0}
    for above, below, share in found["ribbons"]:
        left[tuple(above)] = left.get(tuple(above), 0) + share
        arrived[tuple(below)] = arrived.get(tuple(below), 0) + share
    assert left.keys() == {node for node in arrived if node[1] > 0}
    for node, share in left.items():
        assert share == pytest.approx(arrived[node], abs=1e-6)


def test_alti_is_followed_with_what_it_measured_itself(follow, model, trace) -> None:
    mixes = alti_mixes(residual_maps(model, trace), trace)
    expected = multiply_mixes(mixes)
    found = follow(payload_of(trace, alti=mixes), "alti", 1, 0)
    assert found["source"] == pytest.approx(expected.source[1].tolist(), abs=1e-6)
    assert found["target"] == pytest.approx(expected.target[1].tolist(), abs=1e-6)


def test_a_stack_alone_ends_in_its_own_text(follow) -> None:
    attn = torch.rand(3, 2, 5, 5).softmax(-1)
    encoder = attnviz.from_tensors(attn, list("abcde"))
    found = follow(payload_of(encoder), "rollout", 4, 0.3)
    assert found["source"] == pytest.approx(rollout(encoder, residual=0.3).source[4].tolist(), abs=1e-6)
    assert found["target"] == []
    attn[:, :, 1] = 0  # as where nothing may be seen: the row keeps what it has
    blind = attnviz.from_tensors(attn, list("abcde"))
    found = follow(payload_of(blind), "rollout", 1, 0.3)
    assert found["source"] == pytest.approx([0, 1, 0, 0, 0])
    causal = np.tril(np.random.default_rng(0).random((2, 2, 4, 4))).astype(np.float32)
    causal /= causal.sum(-1, keepdims=True)
    decoder = attnviz.from_tensors({"decoder_self": causal}, {"tgt": list("<abc>")})
    found = follow(payload_of(decoder), "rollout", 2, 0.5)
    assert found["source"] == []
    assert found["target"] == pytest.approx(rollout(decoder).target[2].tolist(), abs=1e-6)
    assert found["target"][3:] == [0], "later tokens have no part in it"
