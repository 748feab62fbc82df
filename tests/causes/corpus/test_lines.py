"""A pasted list: an unusable line is refused in one sentence that names its number."""

import pytest

from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.corpus.lines import MOST_LINES, lines_of
from attnviz.analysis.corpus.reading import read_corpus
from attnviz.text.limits import TextError
from tests.each_case import each_case


def test_a_line_is_a_sentence_and_after_a_tab_its_target() -> None:
    lines = lines_of("I love fun.\tje t'aime\r\n\n  \nA pond.\nI love fun.\tje t'aime\n")
    assert [(line.text, line.target, line.number) for line in lines] == [
        ("I love fun.", "je t'aime", 1), ("A pond.", "", 4),
    ]  # fmt: skip
    assert [line.text for line in lines_of(["a\u2028b", "c"])] == ["a\u2028b", "c"]


@pytest.mark.parametrize("given", ["", "\n \n\t\n", []])
def test_a_list_of_no_line_is_refused(given) -> None:
    with pytest.raises(TextError, match=r"There is no line to read\. Please write one sentence per line"):
        lines_of(given)


def test_a_thousand_lines_are_read_and_one_more_is_refused() -> None:
    texts = [f"Sentence {number}." for number in range(MOST_LINES + 1)]
    assert len(lines_of(texts[:MOST_LINES])) == MOST_LINES
    with pytest.raises(TextError, match=r"^There are 1,001 lines, but at most 1,000 .* from line 1,001 on\.$"):
        lines_of(texts)
    with pytest.raises(TextError, match="10,000 lines"):
        lines_of("a\n" * 10_000)


@each_case(
    ("line", "said"),
    [
        ("word " * 500, r"^Line 3 \(“word word .*…”\) has 2,499 characters, more than 2,000"),
        ("a\x00b", r"^Line 3 \(“a\ufffdb”\) has a character that is not text \(U\+0000\)"),
        ("lone \ud800", r"^Line 3 .*\(U\+D800\)"),
        ("?! …", r"^Line 3 \(“\?! …”\) has neither a letter nor a digit"),
        ("fine\tun\x1bchien", r"^Line 3 .*\(U\+001B\)"),
    ],
)
def test_a_line_that_is_too_long_or_strange_is_named(line, said) -> None:
    with pytest.raises(TextError, match=said) as refusal:
        lines_of(["fine", "", line, "fine too"])
    assert "\n" not in str(refusal.value)
    str(refusal.value).encode()  # it can be shown


def test_a_line_that_the_model_cannot_take_is_named(model) -> None:
    long = "I love a big red dog " * 90  # fewer characters than the most, and more tokens
    with pytest.raises(TextError, match=r"^Line 2 \(“I love .*is too long: source: only the first"):
        read_corpus(model, lines_of(["A pond.", f"{long}\tun chien"]), to="fr")
    with pytest.raises(TextError, match="tlh"):
        read_corpus(model, lines_of(["A pond."]), to="tlh")


def test_reading_stops_where_it_is_told_to(model) -> None:
    heard = []
    stop = Cancellable(lambda done, total: heard.append((done, total)), lambda: len(heard) == 3)
    corpus = read_corpus(model, lines_of(["A pond.", "I love fun.", "a dog"]), to="fr", stop=stop)
    assert [line.text for line in corpus.lines] == ["A pond.", "I love fun."]
    assert heard == [(0, 3), (1, 3), (2, 3)]
    with pytest.raises(TextError, match="Stopped before the first line"):
        read_corpus(model, lines_of("A pond."), to="fr", stop=Cancellable(should_stop=lambda: True))
