"""Any typed text is accepted: wild strings by the thousand, and a megabyte of text."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from attnviz.text.display import display
from attnviz.text.limits import MAX_TOKENS
from tests.each_case import each_case

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


def _check_offsets(encoded, text):
    assert encoded.ids == tuple(token.id for token in encoded.tokens)
    end = 0
    for token in encoded.tokens:
        assert 0 <= token.start <= token.end <= len(text)
        assert token.is_special or text[token.start : token.end] == token.text
        assert token.start >= end or token.end == end, "pieces stand in the order of the text"
        end = token.end


# Every run of three neighbours among twelve pieces is a string to encode: ten strings an example, two thousand in all.
@settings(max_examples=200)
@given(st.lists(PIECE, min_size=12, max_size=12))
@example(["e\u0301"] * 12)
@example([*"\ud83d\ude00", "<eos>", "<pad>", *ODD[:8]])
def test_two_thousand_wild_strings_encode_with_true_offsets_and_display(codec, pieces):
    for at in range(10):
        text = "".join(pieces[at : at + 3])
        for encoded in (codec.encode_source(text), codec.encode_target(text, "fr"), codec.encode_target(text, "zh")):
            _check_offsets(encoded, text)
            assert encoded.tokens[-1].id == codec.eos_id
            assert [token.text for token in encoded.tokens if token.is_special][:-1] in ([], ["<bos:fr>"], ["<bos:zh>"])
            codec.text(encoded.ids).encode("utf-8")
        "".join(display(token.text) for token in encoded.tokens).encode("utf-8")
        display(text).encode("utf-8")


@each_case("piece", ["a", "我", "\ud800", "👨‍👩‍👧‍👦", "\n"])
def test_a_megabyte_is_cut_with_a_sentence_and_never_tokenized_whole(codec, piece):
    text = (piece * 1_000_000)[:1_000_000]
    for encoded in (codec.encode_source(text), codec.encode_target(text, "zh")):
        assert encoded.notes[0] == "Only the first 2,000 of 1,000,000 characters were read."
        assert len(encoded.ids) <= MAX_TOKENS
        _check_offsets(encoded, text)
