"""A backend cuts texts into a checkpoint's own tokens, ids with the characters of each, and turns ids to text again.

A backend is used by many threads at once, and nothing changes it after loading.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

FIRST, SECOND = -1, -2  # in a frame: where the tokens of the text stand, and those of a pair's second one
Frame = tuple[int, ...]  # special ids in order around FIRST and SECOND; ids are never negative


@dataclass(frozen=True)
class Pieces:
    """A text as tokens: ids, and the characters `(start, end)` of the text that each was made from."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    def take_first(self, count: int) -> "Pieces":
        """Return the first tokens."""
        return Pieces(self.ids[:count], self.spans[:count])


class Backend(Protocol):
    """Text to ids and back, as a tokenizer of transformers does it; `target` for what an encoder-decoder writes."""

    def tokenize(self, text: str, *, target: bool = False) -> Pieces:
        """Cut a text into tokens, without special tokens around it; those that were typed are among them."""
        ...

    def frame(self, *, pair: bool = False) -> Frame:
        """Return the special tokens around a text, or around two; empty where the tokenizer reads no pairs."""
        ...

    def type_ids(self, text: str, pair: str) -> tuple[int, ...]:
        """Return the segments of a framed pair, as the tokenizer numbers them; all 0 where it knows none."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without special tokens; U+FFFD for bytes that make no character."""
        ...

    def id_to_token(self, id_: int) -> str | None:
        """Return an id's entry in the vocabulary."""
        ...


def cut_to_fit(room: int, pieces: Sequence[Pieces]) -> tuple[list[Pieces], list[str | None]]:
    """Cut the longer text until both fit; return for each a sentence on what was cut (None: nothing)."""
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
    """Count the special tokens around a text, or two."""
    return sum(place not in (FIRST, SECOND) for place in frame)
