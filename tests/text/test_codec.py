"""Sentences to ids and back: every token knows its piece of the typed sentence, whatever was typed."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attnviz.text.codec import TextCodec
from attnviz.text.display import display
from attnviz.text.limits import MAX_TOKENIZER_BYTES, MAX_TOKENS, TextError, capped, require_text

STORM = "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319" * 4
ODD = [
    "\ud800",
    "\udfff",
    "\x00",
    "\u200f",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\u200b",
    "\n",
    "\u2028",
    "\x1c",
    "\x85",
    "\u3000",
]
EMOJI = ["👨‍👩‍👧‍👦", "👩🏽‍🚀", "🇫🇷", "1️⃣", "🏴\U000e0067\U000e0062\U000e007f", "❤️"]
SCRIPTS = [
    "I love you.",
    "机器学习",
    "Je t'aime",
    "한국어",
    "\u1100\u1161\u11a8",
    "שלום",
    "مرحبا",
    "ﬁ",
    "İ",
    "e\u0301",
    STORM,
]
NAMES = ["<eos>", "<pad>", "<bos:fr>", "\u2581", " ", "  "]
PIECE = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=8),
    st.text(alphabet=st.characters(categories=("Mn", "Mc", "Me")), min_size=1, max_size=4),
    st.sampled_from(ODD + EMOJI + SCRIPTS + NAMES),
)


def _pieces(encoded):
    return [token for token in encoded.tokens if not token.is_special]


def _check_offsets(encoded, text):
    assert encoded.ids == tuple(token.id for token in encoded.tokens)
    end = 0
    for token in encoded.tokens:
        assert 0 <= token.start <= token.end <= len(text)
        assert token.is_special or text[token.start : token.end] == token.text
        assert token.start >= end or token.end == end, "pieces stand in the order of the text"
        end = token.end


# Every run of three neighbours among twelve pieces is a string to encode: ten strings an example, ten thousand in all.
@settings(max_examples=1_000)
@given(st.lists(PIECE, min_size=12, max_size=12))
@example(["e\u0301"] * 12)
@example([*"\ud83d\ude00", "<eos>", "<pad>", *ODD[:8]])
def test_ten_thousand_wild_strings_encode_with_true_offsets_and_display(codec, pieces):
    for at in range(10):
        text = "".join(pieces[at : at + 3])
        for encoded in (codec.encode_source(text), codec.encode_target(text, "fr"), codec.encode_target(text, "zh")):
            _check_offsets(encoded, text)
            assert encoded.tokens[-1].id == codec.eos_id
            assert [token.text for token in encoded.tokens if token.is_special][:-1] in ([], ["<bos:fr>"], ["<bos:zh>"])
            codec.text(encoded.ids).encode("utf-8")
        "".join(display(token.text) for token in encoded.tokens).encode("utf-8")
        display(text).encode("utf-8")


@pytest.mark.parametrize(
    "piece", ["a", "我", "e\u0301", "\ud800", "👨‍👩‍👧‍👦", " ", "\n", "\x00", "\u202e", "I love you. "]
)
def test_a_megabyte_is_cut_with_a_sentence_and_never_tokenized_whole(codec, piece):
    text = (piece * 1_000_000)[:1_000_000]
    for encoded in (codec.encode_source(text), codec.encode_target(text, "zh")):
        assert encoded.notes[0] == "Only the first 2,000 of 1,000,000 characters were read."
        assert len(encoded.ids) <= MAX_TOKENS
        _check_offsets(encoded, text)


def test_nothing_is_said_where_nothing_was_cut(codec):
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


@pytest.mark.parametrize("name", ["<pad>", "<unk>", "<eos>", "<bos:fr>"])
def test_a_typed_special_name_is_text(codec, name):
    ids = codec.encode_source(f"I love {name} you").ids[:-1]
    assert not set(ids) & (codec.special_ids - {codec.unk_id})


def test_rare_character_is_one_unknown_token_that_keeps_its_text(codec):
    tokens = _pieces(codec.encode_source("龘龘"))
    assert [token.text for token in tokens if token.text] == ["龘", "龘"]
    assert [token.id for token in tokens if token.text] == [codec.unk_id] * 2


def test_target_starts_with_its_language(codec):
    assert codec.languages == ("fr", "zh")
    for to in codec.languages:
        first = codec.encode_target("a", to).tokens[0]
        assert (first.text, first.id, first.is_special) == (f"<bos:{to}>", codec.bos_id(to), True)


def test_unknown_language_names_those_there_are(codec):
    with pytest.raises(TextError, match="does not write 'xx'; it writes fr, zh"):
        codec.encode_target("a", "xx")


@pytest.mark.parametrize(
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


def test_starts_of_words(codec):
    tokens = _pieces(codec.encode_source("dogs don't"))
    assert "".join("|" * t.starts_word + t.text for t in tokens).startswith("|dog")
    assert sum(t.starts_word for t in tokens) == 2


def test_save_and_load_keep_the_ids(codec, tmp_path):
    codec.save(tmp_path / "tokenizer.json")
    again = TextCodec.load(tmp_path / "tokenizer.json")
    assert again.encode_source("A big red dog").ids == codec.encode_source("A big red dog").ids
    assert again.special_ids == codec.special_ids


def test_special_ids_are_never_generated_except_the_end(codec):
    assert set(codec.never_generated) == codec.special_ids - {codec.eos_id}


def _content(codec) -> dict:
    return json.loads(codec._json)


def test_broken_tokenizers_are_one_sentence(codec, tmp_path):
    path = tmp_path / "tokenizer.json"
    no_end = _content(codec)
    del no_end["model"]["vocab"]["<eos>"]
    no_model, other = _content(codec), _content(codec)
    del no_model["model"]
    other["model"]["type"] = "WordPiece"
    broken = ["", "{", "[]", "null", "5", '"text"', "[" * 100_000, json.dumps(no_end)]
    for content in (*broken, json.dumps(no_model), json.dumps(other), json.dumps(_content(codec))[:500]):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(TextError, match="tokenizer") as error:
            TextCodec.load(path)
        assert len(str(error.value).splitlines()) == 1, str(error.value)


def test_tokenizer_that_is_missing_or_not_text_is_one_sentence(tmp_path):
    with pytest.raises(TextError, match="no tokenizer"):
        TextCodec.load(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer.json").write_bytes(b"\x80\x05\xff\xfe")
    with pytest.raises(TextError, match="not UTF-8"):
        TextCodec.load(tmp_path / "tokenizer.json")


def test_tokenizer_of_fifty_megabytes_is_refused_unread(tmp_path):
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    assert MAX_TOKENIZER_BYTES < 50_000_000
    with pytest.raises(TextError, match=r"50 MB; tokenizers up to 20 MB"):
        TextCodec.load(path)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"])
def test_blank_sentence_is_asked_for_again(text):
    with pytest.raises(TextError, match="empty: type one"):
        require_text(text)


def test_capped_leaves_short_text_alone():
    assert capped("abc", 3) == ("abc", None)
    assert capped("abcd", 3) == ("abc", "Only the first 3 of 4 characters were read.")
