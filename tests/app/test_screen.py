"""The line that a narrow screen has in the place of the bar says what the bar asks for."""

from pathlib import Path

from attnviz.app.frame.screen import summary_of
from attnviz.app.request import Request
from attnviz.models.catalogue import Entry
from attnviz.models.example_images import TITLES
from tests.each_case import each_case

SHIPPED = Entry("en-XX", Path("en-XX"), "Translator", ("fr",))


@each_case(
    ("src", "to", "tgt", "said"),
    [
        ("I love you.", "fr", "", "I love you. → French"),
        ("I love you.", "fr", "Je t'aime.", "I love you. → Je t'aime."),
        ("The cat sat.", "", "", "The cat sat."),
        ("The cat sat.", "", "It was tired.", "The cat sat. → It was tired."),
        ("  ", "fr", "", "No sentence yet → French"),
        ("a\u200bb", "", "", "a U+200B b"),
    ],
)
def test_the_line_says_sentence_and_target(src: str, to: str, tgt: str, said: str) -> None:
    assert summary_of(Request(SHIPPED, src, to, tgt)) == said


def test_a_long_sentence_is_cut_where_no_line_would_show_it() -> None:
    assert len(summary_of(Request(SHIPPED, "word " * 2_000))) <= 160


def test_the_line_names_the_image_of_a_model_that_reads_no_text() -> None:
    name, title = next(iter(TITLES.items()))
    assert summary_of(Request(SHIPPED, "", image=name)) == title
