"""The browser takes a weight apart into what each element of query and key contributes, up to the weight of the run."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnviz.heads.neuron.neuron import neuron_payload
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

VIEW = {"kind": "cross", "layer": 1, "head": 2, "row": None, "key": None, "order": "position"}
PAIR = """(script, [bytes, view]) => {
  const payload = globalThis.unpackNeuron(Uint8Array.from(bytes));
  const app = { payload, view: { ...payload.header.view, ...view } };
  script.settle(app);
  const pair = script.pairOf(app);
  const arrays = ["query", "key", "product", "scores", "attn"].map((name) => [name, [...pair[name]]]);
  return [{ ...pair, ...Object.fromEntries(arrays) }, app.view];
}"""


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=3).trace("machine learning is fun.", to="fr", tgt_text="un petit chien rouge")


@pytest.fixture(scope="module")
def read_pair(module, trace):
    """Return the pair in the browser, and the view that it settled on."""
    module("kit/js/unpack.js")("({ unpack }) => { globalThis.unpackNeuron = unpack; }")
    script = module("heads/neuron/js/dot_product.js")
    return lambda kind, view: script(
        PAIR, [payload_bytes(neuron_payload(trace, kind, layer=1, head=2, view=VIEW)), view]
    )


@each_case("kind", ["encoder_self", "decoder_self", "cross"])
@each_case(("row", "key"), [(0, 0), (3, 1), (2, 3)])
def test_every_number_is_that_of_the_run(read_pair, trace, kind: str, row: int, key: int) -> None:
    pair, _ = read_pair(kind, {"row": row, "key": key})
    call = trace.call(kind, 1)
    product = call.query[0, 2, row].double() * call.key[0, 2, key].double()
    assert pair["product"] == pytest.approx(product.tolist(), rel=1e-6, abs=1e-9)
    assert pair["dot"] == pytest.approx(float(product.sum()), abs=1e-6)
    assert pair["bias"] == 0
    assert pair["visible"] == (trace.attn(kind, layer=1, head=2)[row] > 0).tolist()
    assert pair["scores"] == pytest.approx(trace.scores(kind, layer=1, head=2)[row].tolist(), abs=1e-5)
    run = trace.attn(kind, layer=1, head=2)[row].numpy()
    assert np.abs(np.array(pair["attn"]) - run).max() < 1e-6
    assert sum(pair["attn"]) == pytest.approx(1)
    assert pair["weight"] == pair["attn"][key]
    assert pair["score"] == pair["scores"][key]


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_a_cap_a_bias_and_a_sink_are_taken_into_account(module, trace, kind: str) -> None:
    """Gemma 2 caps its scores, T5 adds a bias by distance, gpt-oss lets a row give a part of itself to no token."""
    sinks = torch.linspace(-0.2, 0.9, trace.shape(kind)[1])[None, :, None, None]
    length = trace.call(kind, 1).key.shape[2]
    bias = torch.linspace(-0.5, 0.5, length * length).view(1, 1, length, length)
    odd = {site: replace(call, softcap=0.7, sinks=sinks, bias=bias) for site, call in trace.calls.items()}
    changed = replace(trace, calls=odd)
    script = module("heads/neuron/js/dot_product.js")
    payload = payload_bytes(neuron_payload(changed, kind, layer=1, head=2, view=VIEW))  # type: ignore[arg-type]
    pair, _ = script(PAIR, [payload, {"row": 2, "key": 1}])
    run = changed.attn(kind, layer=1, head=2)[2]  # type: ignore[arg-type]
    assert np.abs(np.array(pair["attn"]) - run.numpy()).max() < 1e-6
    scores = changed.scores(kind, layer=1, head=2)[2]  # type: ignore[arg-type]
    assert pair["scores"] == pytest.approx(scores.tolist(), abs=1e-6)
    assert pair["bias"] == pytest.approx(float(bias[0, 0, 2, 1]))
    sunk = float(changed.sink_weights(kind)[1, 2, 2])  # type: ignore[arg-type,index]
    assert sum(pair["attn"]) + sunk == pytest.approx(1, abs=1e-6)
    assert sunk > 0.05


def test_a_key_that_the_mask_hides_has_no_weight(read_pair) -> None:
    pair, _ = read_pair("decoder_self", {"row": 1, "key": 3})
    assert pair["visible"][:2] == [True, True]
    assert not any(pair["visible"][2:])
    assert pair["weight"] == 0


def test_elements_come_by_position_or_by_what_they_contribute(read_pair) -> None:
    pair, _ = read_pair("cross", {"row": 1, "key": 2})
    assert pair["order"] == list(range(len(pair["product"])))
    pair, _ = read_pair("cross", {"row": 1, "key": 2, "order": "contribution"})
    assert [pair["product"][at] for at in pair["order"]] == sorted(pair["product"], reverse=True)


def test_without_a_choice_the_largest_weight_of_the_first_row_is_taken_apart(read_pair) -> None:
    pair, view = read_pair("cross", {})
    assert view["row"] == 0
    assert pair["weight"] == max(pair["attn"])
    _, view = read_pair("cross", {"row": 999, "key": -1})
    assert view["row"] == 0
