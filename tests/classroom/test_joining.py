"""Nicknames may have any letters that people write, and no invisible characters."""

import pytest

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.joining import fold_nickname, validate_nickname
from tests.each_case import each_case


@each_case(
    ("typed", "saved"),
    [
        ("  Ana  ", "Ana"),
        ("Ana\t\n Maria", "Ana Maria"),
        ("Zoe\u0308", "Zoë"),
        ("小明", "小明"),
        ("नमस्ते", "नमस्ते"),
        ("عائشة", "عائشة"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("Ana ❤\ufe0f", "Ana ❤\ufe0f"),
        ("<b>Ana</b>", "<b>Ana</b>"),
        ("=1+1", "=1+1"),
        ("a" * 40, "a" * 40),
    ],
)
def test_a_nickname_is_saved_as_it_reads(typed: str, saved: str) -> None:
    assert validate_nickname(typed) == saved


@each_case(
    ("typed", "words"),
    [
        ("", "at least one letter"),
        (" \t\u3000", "at least one letter"),
        ("...", "at least one letter"),
        ("\u200d", "at least one letter"),
        ("a" * 41, "at most 40 characters, but this one has 41"),
        ("a" * 10_000, "at most 40 characters, but this one has 10,000"),
        ("Ana\u202e", "such as U\\+202E"),
        ("Ana\u2066", "such as U\\+2066"),
        ("A\u200bna", "such as U\\+200B"),
        ("Ana\x00", "such as U\\+0000"),
        ("Ana\x1b[31m", "such as U\\+001B"),
        ("Ana\ud800", "such as U\\+D800"),
        ("\u3164", "such as U\\+3164"),
        ("Ana\u3164", "such as U\\+3164"),
        ("\u115f\u1160", "such as U\\+115F"),
        ("\uffa0", "such as U\\+FFA0"),
        ("\u2800", "such as U\\+2800"),
        ("\ufe0f", "at least one letter"),
        ("a" + "\u0301\u0302\u0303\u0304\u0305", "at most 3 accents"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(typed: str, words: str) -> None:
    with pytest.raises(ClassroomError, match=words) as refused:
        validate_nickname(typed)
    assert str(refused.value).isprintable()


def test_names_that_look_alike_in_another_width_or_case_are_one() -> None:
    assert (
        len({fold_nickname(name) for name in ("Straße", "STRASSE", "ｓｔｒａｓｓｅ", "Stra\u200dsse", "strasse\ufe0f")})
        == 1
    )
