"""What is too long is cut, and a sentence says so; what is blank is asked for again."""

import pytest

from attnviz.text.limits import MAX_TOKENS, TextError, cut_to_limit, require_text
from tests.each_case import each_case


def test_a_text_within_the_limit_has_no_notes(codec):
    assert codec.encode_source("I love you.").notes == ()


def test_token_cap_keeps_first_and_last_token_and_says_so(codec):
    encoded = codec.encode_target("我" * 600, "zh")
    assert len(encoded.ids) == MAX_TOKENS
    assert encoded.ids[0] == codec.bos_ids["zh"]
    assert encoded.ids[-1] == codec.eos_id
    assert encoded.notes == ("Only the first 510 of 600 tokens were kept.",)
    assert encoded.tokens[-1].start == 510


def test_both_caps_say_what_they_cut(codec):
    notes = codec.encode_source("我" * 3_000).notes
    assert notes == (
        "Only the first 2,000 of 3,000 characters were read.",
        "Only the first 511 of 2,001 tokens were kept.",
    )


@each_case("text", ["", " ", "\n\t", "\u3000"])
def test_blank_sentence_is_asked_for_again(text):
    with pytest.raises(TextError, match=r"empty\. Please type one"):
        require_text(text)


def test_capped_leaves_short_text_alone():
    assert cut_to_limit("abc", 3) == ("abc", None)
    assert cut_to_limit("abcd", 3) == ("abc", "Only the first 3 of 4 characters were read.")
