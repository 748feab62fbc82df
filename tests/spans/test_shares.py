"""The shares that the browser shows are the payload's: means over heads, for each token, with and without the sink."""

import numpy as np
import pytest

from attnviz.models.translator.tiny import tiny_translator
from attnviz.spans.spans import SpansState, spans
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER
READ = """({ answerShares, rowsOf, columnsOf }, [bytes, view]) => {
  const payload = globalThis.unpackSpans(Uint8Array.from(bytes));
  const app = { payload, view: { ...payload.header.view, ...view } };
  return { answer: answerShares(app), tokens: rowsOf(app, "by_token"), spans: rowsOf(app, "by_span"),
           columns: columnsOf(app) };
}"""
STATE = SpansState(spans="one=1-3;two=3-4", answer="3-6")


@pytest.fixture(scope="module")
def payload():
    model = tiny_translator(n_heads=3, n_layers=2)
    return spans(model.trace("a big red dog", to="fr", tgt_text="un grand chien rouge"), STATE)


@pytest.fixture(scope="module")
def read(module, payload):
    module("kit/js/unpack.js")("({ unpack }) => { globalThis.unpackSpans = unpack; }")
    script = module("spans/js/choice.js")
    return lambda **view: script(READ, [payload_bytes(payload), view])


def numbers(payload, name: str, rows: int) -> np.ndarray:
    shape = 2, 3, rows, len(payload.header["columns"])
    return np.frombuffer(payload.blobs, "<f4", int(np.prod(shape)), payload.header[name]).reshape(shape)


def test_the_mean_over_heads_is_shown_and_adds_up_to_one(read, payload) -> None:
    told, by_token = read(), numbers(payload, "by_token", 3)
    np.testing.assert_allclose(told["tokens"], by_token.mean(axis=(0, 1)), atol=1e-7)
    np.testing.assert_allclose(told["spans"], numbers(payload, "by_span", 2).mean(axis=(0, 1)), atol=1e-7)
    np.testing.assert_allclose(told["answer"], by_token.mean(axis=(0, 1, 2)), atol=1e-7)
    assert sum(told["answer"]) == pytest.approx(1, abs=1e-6)


def test_one_head_and_one_token_are_shown_as_they_are(read, payload) -> None:
    told = read(layer=1, head=2, focus=4)
    np.testing.assert_allclose(told["answer"], numbers(payload, "by_token", 3)[1, 2, 1], atol=1e-7)
    np.testing.assert_allclose(read(layer="mean", head=0)["tokens"], numbers(payload, "by_token", 3)[:, 0].mean(axis=0),
                               atol=1e-7)  # fmt: skip


def test_for_each_token_shares_are_divided_by_the_length_of_the_span(read, payload) -> None:
    lengths = np.maximum(1, payload.header["lengths"])
    np.testing.assert_allclose(read(per_token=True)["answer"], np.array(read()["answer"]) / lengths, atol=1e-7)


def test_without_the_first_token_the_rest_is_scaled_to_one(read) -> None:
    whole, rest = np.array(read()["tokens"]), read(first=False)
    assert rest["columns"] == [1, 2, 3]
    np.testing.assert_allclose(np.array(rest["tokens"])[:, 1:], whole[:, 1:] / whole[:, 1:].sum(axis=1, keepdims=True),
                               atol=1e-7)  # fmt: skip


NAMES = """({ answerName, answerText }, [bytes, view]) => {
  const payload = globalThis.unpackSpans(Uint8Array.from(bytes));
  return [answerName({ payload, view: { ...payload.header.view, ...view } }), answerText(payload.header)];
}"""


def test_an_answer_is_named_by_its_rows_and_a_single_token_by_itself(module, read, payload) -> None:
    """The row that puts out a token has the place before it, as on Heads."""
    names = module("spans/js/choice.js")
    assert names(NAMES, [payload_bytes(payload), {}]) == ["the answer, rows 2 to 4", "the answer"]
    token = f"\u2068{payload.header['tokens'][4]}\u2069"
    assert names(NAMES, [payload_bytes(payload), {"focus": 4}])[0] == f"{token}, row 3"
    model = tiny_translator(n_heads=3, n_layers=2)
    alone = spans(model.trace("a big red dog", to="fr", tgt_text="un grand chien rouge"))
    last = len(alone.header["tokens"]) - 1
    end = f"\u2068{alone.header['tokens'][last]}\u2069"
    assert names(NAMES, [payload_bytes(alone), {}]) == [f"{end}, row {last - 1}", end]
    assert not alone.header["facts"]["is_conversation"]
    assert alone.header["facts"]["rule"] == "sentences"
