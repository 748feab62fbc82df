"""Display strings: faithful (nothing dropped) and safe (nothing invisible, nothing that moves its neighbours)."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from attnviz.text.display import MAX_MARKS, display, display_token
from attnviz.text.tokens import Token
from tests.each_case import each_case

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)


@each_case(
    ("text", "shown"),
    [
        ("I love you.", "I love you."),
        ("我爱你", "我爱你"),
        ("שלום", "שלום"),
        ("<b>&amp;$x$", "<b>&amp;$x$"),
        ("\u200b", "U+200B"),
        ("a\u200bb", "a U+200B b"),
        ("\u202eabc", "U+202E abc"),
        ("one\ntwo", "one ↵ two"),
        ("\r\n", "U+000D ↵"),
        ("\t", "U+0009"),
        ("\x00", "U+0000"),
        ("\u00a0", "U+00A0"),
        ("\u3000", "U+3000"),
        ("\u00ad", "U+00AD"),
        ("\u2028", "U+2028"),
        ("\ud800", "U+D800"),
        ("\U0010ffff", "U+10FFFF"),
        ("\ue000", "U+E000"),
        ("\u0378", "U+0378"),
        ("\u3164", "U+3164"),
        ("\u2800", "U+2800"),
        ("\U000e0041", "U+E0041"),
        (" ", "␣"),
        ("   ", "␣␣␣"),
        ("\n ", "↵ ␣"),
        ("", "␣"),
        (" a ", " a "),
    ],
)
def test_shows_by_hand(text, shown):
    assert display(text) == shown


def test_combining_mark_is_kept_on_its_letter_and_named_alone():
    assert display("e\u0301") == "e\u0301"
    assert display("\u0301") == "U+0301"
    assert display(" \u0301") == "␣ U+0301"
    assert display("\u200b\u0301") == "U+200B U+0301"


def test_storm_of_marks_is_cut_off_the_letter_but_not_lost():
    shown = display("e" + "\u0301" * 50 + "x")
    assert shown.startswith("e" + "\u0301" * MAX_MARKS + " U+0301")
    assert shown.count("\u0301") + shown.count("U+0301") == 50
    assert shown.endswith(" x")


def test_emoji_families_flags_and_keycaps_stay_whole():
    for emoji in ("👨‍👩‍👧‍👦", "👩🏽‍🚀", "❤️‍🔥", "🇫🇷", "1️⃣", "👩‍❤️‍👨"):
        assert display(emoji) == emoji


def test_joiner_and_style_selector_are_named_where_they_draw_nothing():
    assert display("a\u200db") == "a U+200D b"
    assert display("👨\u200d") == "👨 U+200D"
    assert display("a\ufe0f") == "a U+FE0F"
    assert display("❤\ufe0f\ufe0f") == "❤\ufe0f U+FE0F"


@given(ANY_TEXT)
def test_result_is_printable_and_encodes(text):
    shown = display(text)
    shown.encode("utf-8")
    assert shown.strip()
    emoji_joins = {"\u200d"}
    assert all(c == " " or c in emoji_joins or unicodedata.category(c)[0] not in "CZ" for c in shown)


@given(ANY_TEXT)
def test_no_visible_character_is_dropped_and_none_moves(text):
    letters = [c for c in text if unicodedata.category(c)[0] in "L" and c.isprintable() and ord(c) < 0x3000]
    remaining = iter(display(text))
    assert all(c in remaining or display(c) != c for c in letters)


def test_a_megabyte_of_anything_goes_through():
    text = ("a\u0301\u202e\ud83d👨\u200d👩\x00\u200b我" * 100_000)[:1_000_000]
    assert display(text).encode("utf-8")


def test_bytes_of_a_character_are_no_space():
    """A tokenizer of bytes cuts one character into several tokens; only one of them shows it."""
    assert display_token(Token("爱", 1, 0, 1)) == "爱"
    assert display_token(Token("", 2, 1, 1, starts_word=False)) == "⋯"
    assert display_token(Token("", 3, 1, 1)) == "␣"  # the bare start of a word
    assert display_token(Token("<pad>", 0, 1, 1, is_special=True)) == "<pad>"
