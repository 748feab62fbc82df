"""Sentences to ids and back: every token knows its piece of the typed sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.text.limits import TextError
from tests.each_case import each_case


def _pieces(encoded):
    return [token for token in encoded.tokens if not token.is_special]


@given(st.text(alphabet=st.characters(max_codepoint=0x17F, categories=("L", "N", "P", "Z")), max_size=30))
def test_capitals_do_not_change_the_pieces(codec, text):
    text = "".join(c for c in text if len(c.lower()) == 1 and c.upper().lower() == c.lower())
    typed, low = codec.encode_source(text), codec.encode_source(text.lower())
    assert typed.ids == low.ids
    assert [(t.start, t.end) for t in typed.tokens] == [(t.start, t.end) for t in low.tokens]


def test_capitals_stay_in_the_text_of_a_token(codec):
    text = "I LOVE You."
    assert "".join(token.text for token in _pieces(codec.encode_source(text))) == "ILOVEYou."


def test_capitals_of_a_target_do_change_the_pieces(codec):
    assert codec.encode_target("Je", "fr").ids != codec.encode_target("je", "fr").ids


@given(st.text(alphabet="机器学习我爱你很有趣。，龘𠮷aT 8", max_size=20))
def test_every_chinese_character_is_a_token_of_its_own(codec, text):
    for encoded in (codec.encode_source(text), codec.encode_target(text, "zh")):
        alone = [token.text for token in encoded.tokens if any(c >= "\u3400" for c in token.text)]
        assert alone == [c for c in text if c >= "\u3400"]


def test_machine_learning_can_be_watched_character_by_character(codec):
    tokens = _pieces(codec.encode_target("机器学习", "zh"))
    assert [token.text for token in tokens] == ["机", "器", "学", "习"]
    assert len({token.id for token in tokens} | {codec.unk_id}) == 5


def test_start_of_a_word_before_a_chinese_character_stands_for_no_character(codec):
    first, second, *_ = codec.encode_source("机 is").tokens
    assert (first.text, first.start, first.end) == ("", 0, 0)
    assert (second.text, second.start, second.end) == ("机", 0, 1)


def test_composed_letter_keeps_all_its_typed_characters(codec):
    text = "saute\u0301 x"
    assert "".join(token.text for token in _pieces(codec.encode_source(text))) == "saute\u0301x"
    assert "".join(token.text for token in _pieces(codec.encode_source("\u1100\u1161\u11a8"))) == "\u1100\u1161\u11a8"


def test_curly_quotes_are_read_as_straight_ones_and_shown_as_typed(codec):
    curly, straight = codec.encode_source("Don\u2019t"), codec.encode_source("Don't")
    assert curly.ids == straight.ids
    assert "\u2019" in "".join(token.text for token in curly.tokens)


@each_case("name", ["<pad>", "<unk>", "<eos>", "<bos:fr>"])
def test_a_typed_special_name_is_text(codec, name):
    ids = codec.encode_source(f"I love {name} you").ids[:-1]
    assert not set(ids) & (codec.special_ids - {codec.unk_id})


def test_rare_character_is_one_unknown_token_that_keeps_its_text(codec):
    tokens = _pieces(codec.encode_source("龘龘"))
    assert [token.text for token in tokens if token.text] == ["龘", "龘"]
    assert [token.id for token in tokens if token.text] == [codec.unk_id] * 2


@pytest.mark.parametrize("to", ["fr", "zh"])
def test_ids_of_many_sentences_are_those_of_each_alone(codec, to):
    texts = ["", "The  Red dog.", "机器学习很有趣。", "l'œuf à la coque", "\ud800 <eos> ﬁ 🙂", "a b " * 600]
    assert codec.source_ids(texts) == [codec.encode_source(text).ids for text in texts]
    assert codec.target_ids(texts, to) == [codec.encode_target(text, to).ids for text in texts]


def test_target_starts_with_its_language(codec):
    assert codec.languages == ("fr", "zh")
    for to in codec.languages:
        first = codec.encode_target("a", to).tokens[0]
        assert (first.text, first.id, first.is_special) == (f"<bos:{to}>", codec.bos_id(to), True)


def test_unknown_language_names_those_there_are(codec):
    with pytest.raises(TextError, match="does not write 'xx'; it writes fr, zh"):
        codec.encode_target("a", "xx")


@each_case(
    ("text", "to"),
    [
        ("Je t'aime.", "fr"),
        ("Un grand chien rouge a sauté par-dessus un petit étang.", "fr"),
        ("Ne sais-tu pas où il habite ?", "fr"),
        ("我爱你。", "zh"),
        ("机器学习很有趣。", "zh"),
        ("Tom 8点走了。", "zh"),
    ],
)
def test_decoding_gives_back_what_was_encoded(codec, text, to):
    ids = codec.encode_target(text, to).ids
    assert codec.text(ids) == text
    for token in codec.tokens(ids):
        assert token.is_special or text[token.start : token.end] == token.text
    assert [t.text for t in codec.tokens(ids)] == [t.text for t in codec.encode_target(text, to).tokens]


@given(st.lists(st.integers(0, 150), max_size=20))
def test_offsets_of_generated_ids_point_into_their_text(codec, ids):
    ids = [id_ for id_ in ids if id_ < codec.vocab_size]
    text = codec.text(ids)
    for token in codec.tokens(ids):
        assert token.is_special or text[token.start : token.end] == token.text


def test_tokens_that_start_a_word_are_marked(codec):
    tokens = _pieces(codec.encode_source("dogs don't"))
    assert "".join("|" * t.starts_word + t.text for t in tokens).startswith("|dog")
    assert sum(t.starts_word for t in tokens) == 2


def test_special_ids_are_never_generated_except_the_end(codec):
    assert set(codec.never_generated) == codec.special_ids - {codec.eos_id}
