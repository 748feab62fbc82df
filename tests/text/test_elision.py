"""Behind an apostrophe a French word is the piece that it is elsewhere; what was typed comes back to the letter."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.training.corpus import build_codec

FRENCH = ["Un animal dort.", "L'animal dort.", "Je t'aime, mon ami.", "L'ami d'un animal.", "Hans' Buch."]


@pytest.fixture(scope="module")
def codec() -> TranslatorTokenizer:
    return build_codec({"fr": [("", sentence) for sentence in FRENCH * 5]}, vocab_size=90)


@pytest.fixture(scope="module")
def codec_without_elision(codec) -> TranslatorTokenizer:
    """Provide the same vocabulary as it was read before elisions were cut: its JSON does not say that they are."""
    content = json.loads(codec._json)
    content["normalizer"]["normalizers"] = content["normalizer"]["normalizers"][:-1]
    return TranslatorTokenizer(json.dumps(content))


def _pieces(codec, text):
    return [codec.pieces[id_] for id_ in codec.encode_target(text, "fr").ids[1:-1]]


def test_the_word_behind_an_apostrophe_is_the_word_that_stands_alone(codec):
    assert _pieces(codec, "Un animal dort.")[1] == "▁animal"
    assert _pieces(codec, "L'animal dort.")[:3] == ["▁L", "'", "▁animal"]


def test_an_older_vocabulary_is_read_as_it_was_learned(codec_without_elision):
    assert "▁animal" not in _pieces(codec_without_elision, "L'animal dort.")
    assert (
        codec_without_elision.text(codec_without_elision.encode_target("L'animal dort.", "fr").ids) == "L'animal dort."
    )


def test_every_piece_knows_its_place(codec):
    tokens = codec.encode_target("L'animal dort.", "fr").tokens[1:4]
    assert [(token.text, token.start, token.end, token.starts_word) for token in tokens] == [
        ("L", 0, 1, True),
        ("'", 1, 2, False),
        ("animal", 2, 8, True),
    ]


def test_english_is_not_cut(codec):
    assert "▁t" not in [codec.pieces[id_] for id_ in codec.encode_source("don't").ids]


@given(st.text(alphabet="Lanimlt' .", max_size=14))
def test_what_was_typed_comes_back(codec, text):
    typed = " ".join(text.split())
    assert codec.text(codec.encode_target(text, "fr").ids) == typed


@given(st.text(alphabet="Lanimlt' .", max_size=14))
def test_places_grow_and_hold_their_text(codec, text):
    end = 0
    for token in codec.encode_target(text, "fr").tokens:
        assert end <= token.start <= token.end
        assert token.is_special or text[token.start : token.end] == token.text
        end = token.end
