"""The backend interface: tokenize texts into ids with the characters of each, and decode ids to text.

A backend is used by many threads at once, and is not changed after loading.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol
from unicodedata import category

_MARK, _BYTE_MARK = "▁", "Ġ"  # a space in pieces of sentencepiece and of byte-level vocabularies
_BYTE = re.compile("<0x[0-9A-F]{2}>")
FIRST, SECOND = -1, -2  # in a frame: placeholders for the text's tokens and for those of a pair's second text
Frame = tuple[int, ...]  # the ids of special tokens, and FIRST and SECOND where the texts go; ids are never negative


@dataclass(frozen=True)
class Pieces:
    """A tokenized text: ids, and for each the characters `(start, end)` of the text that it covers."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    def take_first(self, count: int) -> "Pieces":
        """Return the first `count` tokens."""
        return Pieces(self.ids[:count], self.spans[:count])


def is_mark(piece: str) -> bool:
    """Check whether a piece is only a mark for the space before a word."""
    return bool(piece) and not piece.strip(_MARK + _BYTE_MARK)


def correct_spans(text: str, pieces: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the characters that each piece covers, corrected from the tokenizer's offsets.

    Offsets are wrong in three cases. A mark that the tokenizer adds before a word has the span of the word's first
    character. The bytes of neighbouring unknown characters all have the span of all these characters. Combining
    characters, such as an accent, are in no span.
    """
    own: list[tuple[int, int]] = []
    for (span, are_bytes), run in groupby(
        zip(spans, pieces, strict=True), key=lambda each: (each[0], bool(_BYTE.fullmatch(each[1])))
    ):
        named = [piece for _, piece in run]
        own += _spread_bytes(text, named, span) if are_bytes else [_blanks(text, piece, span) for piece in named]
    return _add_composed(text, own)


def _blanks(text: str, piece: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return the span of the spaces that a piece such as `▁` stands for; empty if the tokenizer added the piece.

    A `▁` that the user typed counts as a space.
    """
    start, end = span
    if not is_mark(piece):
        return span
    while start < end and (text[start].isspace() or text[start] in piece):
        start += 1
    return span[0], start


def _spread_bytes(text: str, pieces: Sequence[str], span: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the character of each byte piece, or `span` for each if the bytes do not match the span's characters."""
    own: list[tuple[int, int]] = []
    at, end = span
    for character in bytes(int(piece[3:5], 16) for piece in pieces).decode(errors="replace"):
        is_space = character == _MARK
        if at < end and (text[at] == character or (is_space and text[at].isspace())):
            stop = at + 1
        elif is_space:
            stop = at  # a mark that the tokenizer added
        else:
            break
        own += [(at, stop)] * len(character.encode())
        at = stop
    return own if at == end and len(own) == len(pieces) else [span] * len(pieces)


def _add_composed(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Extend each span over the combining characters after it that are in no span."""
    own = list(spans)
    after = len(text)  # start of the next piece that shares no character with this one
    for at in reversed(range(len(own))):
        start, end = own[at]
        if at + 1 < len(own) and own[at + 1][0] >= end:
            after = own[at + 1][0]
        while start < end < after and not text[end - 1].isspace() and not _is_blank(text[end]):
            end += 1
        own[at] = start, end
    return own


def _is_blank(character: str) -> bool:
    """Check whether a character is a space or invisible, so that a tokenizer may drop it and no piece covers it."""
    return character.isspace() or character == _MARK or category(character)[0] == "C"


class Backend(Protocol):
    """Converts text to ids and back, like a transformers tokenizer; `target` is set for what an encoder-
    decoder writes.
    """

    def tokenize(self, text: str, *, target: bool = False) -> Pieces:
        """Tokenize a text without adding special tokens; special tokens that were typed stay."""
        ...

    def frame(self, *, pair: bool = False) -> Frame:
        """Return the special tokens around a text, or around two; empty if the tokenizer reads no pairs."""
        ...

    def type_ids(self, text: str, pair: str) -> tuple[int, ...]:
        """Return the segment of each token of a pair with its special tokens; all 0 if the tokenizer has no
        segments.
        """
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text for ids, without special tokens; U+FFFD stands for bytes that are not a character."""
        ...

    def id_to_token(self, id_: int) -> str | None:
        """Return an id's entry in the vocabulary."""
        ...


def cut_to_fit(room: int, pieces: Sequence[Pieces]) -> tuple[list[Pieces], list[str | None]]:
    """Truncate the longest text until all fit into `room` tokens; return them, with a note for each that was cut (or
    None).
    """
    found = [len(each.ids) for each in pieces]
    lengths = list(found)
    while sum(lengths) > room:
        lengths[lengths.index(max(lengths))] -= 1
    said = [
        f"Only the first {kept:,} of {there:,} tokens were kept." if kept < there else None
        for kept, there in zip(lengths, found, strict=True)
    ]
    return [each.take_first(length) for each, length in zip(pieces, lengths, strict=True)], said


def specials_in(frame: Frame) -> int:
    """Return the number of special tokens that are added around a text or a pair of texts."""
    return sum(place not in (FIRST, SECOND) for place in frame)
