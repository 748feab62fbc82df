"""Sentences are shown literally: no Markdown takes effect, and nothing becomes a link, an emoji or an arrow."""

import re

from hypothesis import given
from hypothesis import strategies as st

from attnviz.app.markdown import JOINER, literal
from tests.each_case import each_case


@given(st.text(st.characters(exclude_characters="\\")))
def test_literal_keeps_every_character_but_indents_and_joiners(text: str) -> None:
    read = literal(text).replace("\\", "").replace(JOINER, "")
    assert read == re.sub(r"(^|[\r\n])[ \t]+", r"\1", text).replace(JOINER, "")


@given(st.text(st.sampled_from("&<>*_`=-#:[]()!|~^${}.+@1a \\\n")))
def test_every_sign_that_markdown_may_read_is_escaped(text: str) -> None:
    assert re.fullmatch(rf"(?:\\[!-/:-@\[-`{{-~]|[1a\s{JOINER}])*", literal(text))


@each_case(
    ("text", "apart"),
    [
        ("https://a.b", r"https\:~\/\/a\.b"),
        ("see WWW.a.b", r"see WWW~\.a\.b"),
        ("x.y@a.b", r"x\.y\@~a\.b"),
        (":smile: :+1:", r"\:~smile\: \:~\+1\:"),
        ("a -> b", r"a \-~\> b"),
        ("<->", r"\<~\-~\>"),
        ("a\n===\n    b", "a\n\\=\\=\\=\nb"),
    ],
)
def test_what_streamlit_looks_for_in_plain_text_is_kept_apart(text: str, apart: str) -> None:
    assert literal(text) == apart.replace("~", JOINER)


@each_case("text", ["L2 H5: 12:30", "<bos:fr> → un", "facebook/bart-base", "a <b> & c", "-40 to 10"])
def test_what_nobody_looks_for_can_be_copied_as_it_is(text: str) -> None:
    assert literal(text).replace("\\", "") == text
