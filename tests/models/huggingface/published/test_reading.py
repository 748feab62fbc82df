"""Every family's tokenizer, from its files as they are published: held against transformers' own, on strange texts."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from attnviz.models.huggingface.tokenization.backend import FIRST
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.text.limits import TextError
from tests.each_case import each_case
from tests.models.huggingface.families import ENCODERS, FAMILIES, tokenizer_of
from tests.models.huggingface.published.pieces import m2m_100

TEXTS = (
    "A cat sat on the mat.",
    "",
    "  two  spaces   three ",
    "line\nbreak\r\n\ttab",
    "👩‍👧 family 🚴riding 🇫🇷",
    "cafe\u0301 e\u0301\u0302\u0303 naïve",
    "ﬁne ½ ㎏ Ⅳ ｆｕｌｌ İstanbul",
    "我爱你。猫。",
    "나는 너를 사랑해",
    "שלום עולם مرحبا",
    "a\u200bb\u00ad\ufeffc\u00a0d",
    "I 爱 you",
    "</s> typed <s>  [SEP] <unk>x<pad>",
    "aaaa" * 12,
    "▁under ▁ score",
    "\u0001 ctrl 1234567 3.14 MKTAYIAK",
    "ATGTAAACAGTACC AGGTATATN",
    "ends </s>",
)

pytestmark = pytest.mark.filterwarnings("ignore:This sequence already has </s>")  # ByT5's, of a text that ends so


@dataclass(frozen=True)
class Read:
    """A family's files as transformers reads them, and as we do."""

    theirs: Any
    ours: CheckpointTokenizer


@pytest.fixture(scope="module")
def read(family: Callable[[str], Path]) -> Callable[[str], Read]:
    def read_both(name: str) -> Read:
        one, other = tokenizer_of(family(name)), tokenizer_of(family(name))  # neither changes the other
        return Read(one, CheckpointTokenizer(other, max_tokens=10**6, takes_pairs=name in ENCODERS))

    return cache(read_both)


@each_case("name", FAMILIES)
def test_ids_are_those_of_transformers_and_spelled_as_it_decodes_them(name: str, read: Callable[[str], Read]) -> None:
    made = read(name)
    for text in TEXTS:
        ids = made.theirs(text)["input_ids"]
        assert list(made.ours.encode(text).ids) == ids, text
        spelled = made.theirs.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert made.ours._decode(ids).replace("\ufffd", "") == spelled.replace("\ufffd", ""), text


@each_case("name", FAMILIES)
def test_tokens_stand_side_by_side_and_miss_nothing_that_can_be_seen(name: str, read: Callable[[str], Read]) -> None:
    for text in TEXTS if name != "ByT5" else TEXTS[:-1]:  # it puts no second end behind one that was typed
        encoded = read(name).ours.encode(text)
        tokens = [token for token in encoded.tokens if not (token.is_special and token.start == token.end)]
        assert encoded.text == text
        assert all(text[token.start : token.end] == token.text for token in tokens if not token.is_special)
        assert all(before.end <= after.start for before, after in pairwise(tokens))
        missed = set(text) - {text[at] for token in tokens for at in range(token.start, token.end)}
        assert all(_is_dropped(character) for character in missed), (text, missed)


def _is_dropped(character: str) -> bool:
    """Spaces lie between tokens; some tokenizers drop what cannot be seen, and marks on letters."""
    return character in "▁ " or unicodedata.category(character)[0] in "CZ" or unicodedata.category(character) == "Mn"


_PARTS = (
    "work", "a", "é", "e\u0301", "猫\u0301", "\u1112\u1161\u11ab", "中文", "猫", "龘龖", "나", "ﬁ", "㎏", "🚴", " ",
    "  ", "\n", "▁", "Ġ", ".", "<s>", "</s>", "\u200b",
)  # fmt: skip
_LABELLED = ("XLM-R", "CamemBERT", "T5, Flan-T5", "mT5", "mBART", "Marian", "M2M100", "Llama 1-2", "RoBERTa", "Qwen 3")
_MIXED = st.lists(st.sampled_from(_PARTS), max_size=9).map("".join)


@pytest.mark.parametrize("name", _LABELLED)
@settings(max_examples=40, deadline=None)
@given(text=_MIXED)
def test_labels_and_spaces_give_back_the_text_and_no_character_is_in_two(name: str, text: str, read) -> None:
    made = read(name)
    tokens = [token for token in made.ours.encode(text).tokens if token.start < token.end or not token.is_special]
    assert all(text[token.start : token.end] == token.text for token in tokens if not token.is_special)
    held = [at for token in tokens for at in range(token.start, token.end)]
    assert held == sorted(set(held))
    assert all(_is_blank(text[at]) for at in set(range(len(text))) - set(held))
    assert all(_is_blank(token.text) for token in tokens if token.piece and not token.piece.strip("▁Ġ"))
    if made.theirs.is_fast:
        _check_offsets(made, text)


def _check_offsets(made: Read, text: str) -> None:
    """Hold each token's characters against the library's offsets: a token may add only characters that have none."""
    offsets = made.theirs.backend_tokenizer.encode(text, add_special_tokens=False).offsets
    first = made.ours.frame.index(FIRST)
    tokens = made.ours.encode(text).tokens[first : first + len(offsets)]
    known = {at for span in offsets for at in range(*span)}
    for token, (start, end) in zip(tokens, offsets, strict=True):
        assert {at for at in range(token.start, token.end) if not start <= at < end} <= set(range(len(text))) - known


def _is_blank(text: str) -> bool:
    """Check for spaces, for what cannot be seen, and for the mark that sentencepiece reads as a space."""
    return all(each in "▁" or unicodedata.category(each)[0] in "CZ" for each in text)


def test_a_tokenizer_that_ends_no_text_reads_one(read: Callable[[str], Read]) -> None:
    with pytest.raises(TextError, match="This model can read only one text, because its tokenizer has no token"):
        read("Nucleotide Transformer").ours.encode("ATCG", "GATA")


def test_a_token_that_takes_the_spaces_around_it_takes_them(tmp_path: Path) -> None:
    """M2M100's form with a sentencepiece file that keeps every space, and a token that was added to it."""
    m2m_100(tmp_path, keeps_spaces=True)
    (tmp_path / "config.json").write_text('{"model_type": "m2m_100"}', encoding="utf-8")
    theirs, ours = tokenizer_of(tmp_path), tokenizer_of(tmp_path)
    for tokenizer in (theirs, ours):
        tokenizer.add_tokens([AddedToken("<glue>", lstrip=True, rstrip=True)])
    for text in ("a  <glue>   b", "<glue> b", "a <glue>", "a  b <glue>"):
        encoded = CheckpointTokenizer(ours, max_tokens=99, takes_pairs=False).encode(text)
        assert list(encoded.ids) == theirs(text)["input_ids"], text
        assert [token.text for token in encoded.tokens if token.text in ("a", "b", "<glue>")] == text.split()


@each_case("name", sorted(ENCODERS.keys() - {"Nucleotide Transformer"}))
def test_a_pair_has_the_ids_and_segments_of_transformers(name: str, read: Callable[[str], Read]) -> None:
    made = read(name)
    encoded, expected = made.ours.encode("A cat sat.", "Where is it?"), made.theirs("A cat sat.", "Where is it?")
    assert list(encoded.ids) == expected["input_ids"]
    if "token_type_ids" in expected and any(expected["token_type_ids"]):
        assert list(encoded.segments) == expected["token_type_ids"]
        assert made.ours.marks_segments
