"""Spans as the browser writes them are what Python reads, and a span that is made takes its tokens from others."""

import pytest

from attnviz.spans.span_rules import SpannedText, read_spans, write_spans
from attnviz.text.tokens import Span, Token
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER
TEXT = "abcdefghij"
SPANNED = SpannedText.of([Token(sign, at, at, at + 1) for at, sign in enumerate(TEXT)], TEXT)


@pytest.fixture(scope="module")
def notation(module):
    return module("spans/js/notation.js")


def as_spans(told: list[dict]) -> list[tuple[str, int, int]]:
    return [(span["name"], span["start"], span["end"]) for span in told]


@each_case("name", ["user", "a=b;c", "猫 🙂", "100% %41", "a'b(c)*!~", "\u202eabc"])
def test_python_reads_what_the_browser_writes(notation, name) -> None:
    told = [{"name": name, "start": 1, "end": 3}, {"name": "other", "start": 4, "end": 9}]
    written = notation("({ writeSpans }, spans) => writeSpans(spans)", told)
    read = read_spans(written, SPANNED)
    assert [(span.name, span.start, span.end) for span in read] == as_spans(told)
    assert read_spans(write_spans(read), SPANNED) == read


def test_a_lone_surrogate_is_written_as_the_sign_for_what_is_no_text(notation) -> None:
    written = notation("({ writeSpans }) => writeSpans([{ name: 'a\\ud800', start: 0, end: 1 }])")
    assert read_spans(written, SPANNED)[0].name == "a\ufffd"


@each_case(
    ("start", "end", "expected"),
    [
        (4, 6, [("one", 0, 3), ("span 1", 4, 6), ("two", 6, 9)]),
        (1, 2, [("one", 0, 1), ("span 1", 1, 2), ("one (2)", 2, 3), ("two", 5, 9)]),
        (0, 10, [("span 1", 0, 10)]),
        (2, 6, [("one", 0, 2), ("span 1", 2, 6), ("two", 6, 9)]),
        (9, 10, [("one", 0, 3), ("two", 5, 9), ("span 1", 9, 10)]),
    ],
)
def test_a_span_that_is_made_takes_its_tokens_from_the_others(notation, start, end, expected) -> None:
    given = [{"name": "one", "start": 0, "end": 3}, {"name": "two", "start": 5, "end": 9}]
    made = notation("({ withSpan }, [spans, start, end]) => withSpan(spans, start, end)", [given, start, end])
    assert as_spans(made["spans"]) == expected
    assert read_spans(write_spans([Span(*span) for span in expected]), SPANNED)


def test_a_new_name_is_cleaned_and_taken_by_no_other_span(notation) -> None:
    given = [{"name": "one", "start": 0, "end": 3}, {"name": "two", "start": 5, "end": 9}]
    rename = "({ renamed }, [spans, text]) => renamed(spans, 0, text).map(({ name }) => name)"
    assert notation(rename, [given, " question\n\x07 "]) == ["question", "two"]
    assert notation(rename, [given, "two"]) == ["two (2)", "two"]
    assert notation(rename, [given, "  "]) == ["one", "two"]
    assert notation(rename, [given, "🙂" * 70])[0] == "🙂" * 60
