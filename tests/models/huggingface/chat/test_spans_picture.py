"""The Spans picture of conversations: its numbers are the analysis's, on every family's template."""

import numpy as np
import pytest
import torch

from attnviz.analysis.output_maps import OutputMap, output_maps
from attnviz.hosts.registry import picture
from attnviz.kit.wire import Payload
from attnviz.models.huggingface import load
from attnviz.spans.numbers.hidden import hide_spans
from attnviz.spans.numbers.shares import cut_to_keys, read_spans_of, span_norms, span_shares
from attnviz.spans.span_rules import read_answer, read_spans
from attnviz.spans.spans import NO_MODEL, SpansState, spanned_text, spans
from tests.models.huggingface import architectures
from tests.models.huggingface.chat.templates import CHATML, TEMPLATES

PASSAGES = "[1] The cat sat. [2] The dog looked at the cat. [3] A dog sat. Who sat?"
ASKED = [{"role": "user", "content": PASSAGES}]


def numbers(payload: Payload, name: str) -> np.ndarray:
    """Return the shares that a payload holds: layers, heads, rows, columns."""
    header = payload.header
    columns = len(header["columns"])
    rows = header["answer"][1] - header["answer"][0] if name == "by_token" else len(header["spans"])
    shape = header["layers"], header["heads"], rows, columns
    return np.frombuffer(payload.blobs, "<f4", int(np.prod(shape)), header[name]).reshape(shape)


@pytest.fixture
def answered(chat):
    def run(name: str = "llama", template: str = CHATML):
        model = chat(name, template)
        return model, model.trace(messages=ASKED, new_tokens=4)

    return run


@pytest.mark.parametrize("family", TEMPLATES)
def test_passages_are_found_in_every_familys_template(family, answered) -> None:
    _, trace = answered(template=TEMPLATES[family])
    of = spanned_text(trace)
    found = read_spans("rule:passages", of)
    texts = {span.name: of.text[of.tokens[span.start].start : of.tokens[span.end - 1].end] for span in found}
    assert [name for name in texts if name.startswith("passage")] == ["passage 1", "passage 2", "passage 3"]
    assert texts["passage 2"].strip() == "[2] The dog looked at the cat."
    assert texts["question"].strip() == "Who sat?"
    assert {span.role for span in found} == {"user", "assistant"}
    assert read_answer("", of).end == len(of.tokens)


@pytest.mark.parametrize("name", ["llama", "gpt_oss", "gpt2"])
def test_what_a_picture_shows_adds_up_to_one_with_the_sink(name, answered, tmp_path) -> None:
    has_sink = name == "gpt_oss"  # with a text of its own: it has no room for a conversation
    if has_sink:
        held = load(architectures.ALL[name](tmp_path / name), device=torch.device("cpu"), dtype=torch.float32)
        trace = held.trace(PASSAGES, new_tokens=2)
    else:
        _, trace = answered(name)
    made = spans(trace, SpansState(spans="rule:passages"))
    assert made.header["columns"][-1] == ("sink" if has_sink else "other tokens")
    for which in ("by_token", "by_span"):
        np.testing.assert_allclose(numbers(made, which).sum(axis=-1), 1, atol=1e-5)
    keys = len(trace.key_tokens("decoder_self"))
    assert sum(made.header["lengths"]) == keys + has_sink


def test_rows_are_those_that_put_the_answer_out_and_those_of_each_span(answered) -> None:
    _, trace = answered()
    made, weights = spans(trace, SpansState(spans="rule:passages")), trace.attn("decoder_self")
    start, end = made.header["answer"]
    one = made.header["spans"][1]
    by_token = weights[:, :, start - 1 : end - 1, one["start"] : one["end"]].sum(dim=-1)
    np.testing.assert_allclose(numbers(made, "by_token")[..., 2], by_token, atol=1e-6)
    other = made.header["spans"][2]
    between = weights[:, :, other["start"] : other["end"], one["start"] : one["end"]].sum(dim=-1).mean(dim=-1)
    np.testing.assert_allclose(numbers(made, "by_span")[:, :, 2, 2], between, atol=1e-6)


def test_by_norm_it_shows_what_heads_write(answered) -> None:
    model, trace = answered()
    state = SpansState(spans="rule:passages", shares="norm")
    made, of = spans(trace, state, model=model), spanned_text(trace)
    chosen = cut_to_keys(read_spans("rule:passages", of), len(trace.key_tokens("decoder_self")))
    own = [found for found in output_maps(model, trace).values() if isinstance(found, OutputMap)]
    expected = read_spans_of(span_norms(trace, own, chosen), chosen, read_answer("", of))
    np.testing.assert_allclose(numbers(made, "by_token"), expected.by_token, atol=1e-6)
    assert not np.allclose(
        numbers(made, "by_token"), numbers(spans(trace, SpansState(spans="rule:passages")), "by_token")
    )


@pytest.mark.parametrize(("hidden", "hidden_from"), [("answer", "answer"), ("later", "all later rows")])
def test_the_cause_is_the_analysiss(hidden, hidden_from, answered) -> None:
    model, trace = answered()
    state = SpansState(spans="rule:passages", hidden=hidden)
    cause, of = spans(trace, state, model=model).header["cause"], spanned_text(trace)
    chosen = cut_to_keys(read_spans("rule:passages", of), len(trace.key_tokens("decoder_self")))
    table = hide_spans(model, trace, read_answer("", of), chosen, hidden_from=hidden_from)
    assert [line[0] for line in cause["lines"]] == list(table["span"])
    np.testing.assert_allclose(
        [line[1:] for line in cause["lines"]], table[["share", "without", "difference"]], atol=1e-6
    )
    assert cause["logprob"] == pytest.approx(table["logprob"].iloc[0])
    assert any(abs(line[3]) > 1e-4 for line in cause["lines"])


def test_without_its_model_it_says_what_cannot_be_had(answered, tmp_path) -> None:
    model, trace = answered()
    alone = picture("spans").of(trace)
    assert set(alone.lacks) == {"shares", "hidden"}
    assert alone.payload().header["facts"]["why_no_cause"] == NO_MODEL
    told = alone.with_fields(hidden="answer").payload().header["cause"]
    assert (told["lines"], told["why"]) == ([], NO_MODEL)
    with pytest.raises(ValueError, match="shares='norm' cannot be shown: The model that made the trace is not given"):
        alone.with_fields(shares="norm").payload()
    file = picture("spans").of(trace, model=model, spans="rule:passages", hidden="answer").without_python()
    assert set(file.lacks) == {"spans", "answer", "shares", "hidden"}
    assert len(file.payload().header["cause"]["lines"]) == 4, "a file has what was computed"
    assert trace.to_html(tmp_path / "spans.html", picture="spans").stat().st_size > 10_000
    unsaid = model.trace(messages=ASKED, new_tokens=2, logits=False)
    told = spans(unsaid, SpansState(hidden="answer"), model=model).header["cause"]
    assert told["why"] == "This trace has no logits. Please trace with logits=True."


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"spans": "a=1-1"}, "The span “a” holds no token"),
        ({"spans": "rule:verbs"}, "There is no rule called “verbs”"),
        ({"answer": "0-3"}, "The answer begins with the first token"),
        ({"layer": 99}, "this model has layers 0 to"),
        ({"focus": 9999}, "it is a whole number from 0 to"),
        ({"hidden": "all"}, "it can be "),
    ],
)
def test_a_field_that_cannot_be_followed_is_refused_in_one_sentence(asked, says, answered) -> None:
    _, trace = answered()
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the sentence is compared below
        picture("spans").of(trace, **asked)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_too_many_shares_and_a_trace_of_new_rows_are_refused(answered, monkeypatch) -> None:
    model, trace = answered()
    monkeypatch.setattr("attnviz.spans.spans.MOST", 10)
    with pytest.raises(ValueError, match="choose a shorter answer or fewer spans"):
        spans(trace)
    step = next(iter(model.reply(ASKED, new_tokens=2)))
    steps = list(model.reply(ASKED, new_tokens=2))
    assert step.trace is not None
    with pytest.raises(ValueError, match="Spans needs all rows of the text"):
        spans(steps[-1].trace)


def test_shares_are_summed_without_a_whole_map(answered, monkeypatch) -> None:
    _, trace = answered()
    whole = span_shares(trace).shares
    monkeypatch.setattr(type(trace), "attn", lambda *_, **__: pytest.fail("a whole map was computed"))
    assert torch.equal(span_shares(trace).shares, whole)
