"""What the drawing plays are numbers of the trace, and no others."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis.rerun import next_tokens
from attnviz.app.drawing.payload import Here, drawing_payload
from attnviz.models.structure import structure
from attnviz.models.translator.tiny import tiny_translator
from attnviz.text.display import display_token
from attnviz.transformer.probe import Site
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

STEPS = """({ stepsOf, rowsOf }, [bytes, row]) => {
  const { header, array } = globalThis.unpackDrawing(Uint8Array.from(bytes));
  const floats = (at, length) => array(Float32Array, at, length);
  const steps = stepsOf(header, floats, row);
  return { steps: steps.map((step) => ({ ...step, strip: step.strip ?? null })), rows: rowsOf(header.run) };
}"""
HERE = Here("cross", 1, 2)


@pytest.fixture(scope="module")
def play(module):
    module("kit/js/unpack.js")("({ unpack }) => { globalThis.unpackDrawing = unpack; }")
    script = module("app/drawing/js/steps.js")
    return lambda payload, row: script(STEPS, [payload_bytes(payload), row])


@pytest.fixture(scope="module")
def model():
    return tiny_translator(n_heads=3, n_layers=2)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace("a big red dog", to="fr", tgt_text="un chien rouge")


def step(found: dict, name: str) -> dict:
    return next(one for one in found["steps"] if one["id"] == name)


def test_weights_context_and_next_tokens_are_the_traces(play, model, trace) -> None:
    row = 2
    found = play(drawing_payload(structure(trace, model), trace, model, HERE), row)
    weights = trace.attn("cross", layer=1, head=2)[row]
    cross = step(found, "cross")
    keys = [display_token(token) for token in trace.key_tokens("cross")]
    for name, weight, at in cross["bars"][:6]:
        assert weight == pytest.approx(float(weights[at]), abs=1e-7)
        assert name == keys[at]
    assert sum(bar[1] for bar in cross["bars"]) == pytest.approx(float(weights.sum()), abs=1e-6)
    context = trace.context("cross", 1)[2, row]
    assert step(found, "cross-context")["strip"] == pytest.approx(context.tolist(), abs=1e-7)
    expected = next_tokens(model, trace.logits[0, row], 5)
    assert [(name, chance) for name, chance, _ in step(found, "end")["bars"]] == [
        (display_token(token), pytest.approx(chance, abs=1e-7)) for token, chance in expected
    ]


def test_the_encoders_row_is_the_token_that_cross_attention_reads_most(play, model, trace) -> None:
    found = play(drawing_payload(structure(trace, model), trace, model, HERE), 3)
    source = int(trace.attn("cross", layer=1, head=2)[3].argmax())
    name = display_token(trace.tokens("src")[source])
    weights = trace.attn("encoder_self", layer=1, head=2)[source]
    said = step(found, "encoder_self")
    assert said["text"].startswith(f"“\u2068{name}\u2069” looks at all {len(weights)} tokens")
    assert said["bars"][0][1] == pytest.approx(float(weights.max()), abs=1e-7)


def test_lengths_are_those_of_the_hidden_states(play, model, trace) -> None:
    found = play(drawing_payload(structure(trace, model), trace, model, HERE), 2)
    before, after = (float(trace.layer_output("decoder", at)[2].norm()) for at in (-1, 1))
    assert f"{before:.5g}"[:6] in step(found, "decoder-embedding")["text"]
    assert f"{after:.5g}"[:6] in step(found, "decoder-layers")["text"]


def test_a_causal_row_reads_what_comes_before_it_and_no_more(play, model, trace) -> None:
    found = play(drawing_payload(structure(trace, model), trace, model, Here("decoder_self", 0, 0)), 1)
    assert "looks at 2 of 5 tokens" in step(found, "decoder_self")["text"]
    assert len(step(found, "decoder_self")["bars"]) == 2
    assert step(found, "decoder-tokens")["tokens"] == [display_token(token) for token in trace.tokens("tgt")[:2]]


def test_of_bare_weights_only_weights_are_told(play) -> None:
    weights = torch.rand(2, 3, 4, 4).softmax(-1)
    trace = attnviz.from_tensors(weights, list("abcd"), kind="encoder_self")
    found = play(drawing_payload(structure(trace), trace, None, Here("encoder_self", 1, 2)), 3)
    assert [one["id"] for one in found["steps"]] == ["encoder-tokens", "encoder_self"]
    assert step(found, "encoder_self")["bars"][0][1] == pytest.approx(float(weights[1, 2, 3].max()), abs=1e-6)


def test_a_long_rows_weights_are_told_with_the_sum_of_the_others(play) -> None:
    weights = torch.full((1, 1, 40, 40), 1 / 40)
    trace = attnviz.from_tensors(weights, [str(at) for at in range(40)], kind="encoder_self")
    bars = step(play(drawing_payload(structure(trace), trace, None, Here()), 0), "encoder_self")["bars"]
    assert bars[-1][:2] == ["34 others", pytest.approx(34 / 40, abs=1e-6)]
    assert len(bars) == 7


def test_a_row_that_is_no_number_says_so(play, model, trace) -> None:
    site = Site("encoder_self", 1)
    query = trace.calls[site].query.clone()
    query[:, 2, 3] = float("nan")
    broken = replace(trace, calls={**trace.calls, site: replace(trace.calls[site], query=query)})
    payload = drawing_payload(structure(trace, model), broken, model, Here("encoder_self", 1, 2))
    kind = payload.header["run"]["kinds"]["encoder_self"]
    assert [total is None for total in kind["total"]] == [row == 3 for row in range(len(kind["total"]))]
    payload.header["run"]["kinds"]["cross"]["top"][0] = [[3, 1.0]]
    assert step(play(payload, 0), "encoder_self")["text"] == "This row is not a number (NaN)."
