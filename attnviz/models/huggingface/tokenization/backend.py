"""What cuts a text into a checkpoint's own tokens: ids with the characters that each stands for, and ids to text again.

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

    def first(self, count: int) -> "Pieces":
        """The first tokens of them."""
        return Pieces(self.ids[:count], self.spans[:count])


class Backend(Protocol):
    """Text to ids and back, as a tokenizer of transformers does it; `target` for what an encoder-decoder writes."""

    def pieces(self, text: str, *, target: bool = False) -> Pieces:
        """The tokens of a text, without special tokens around it; those that were typed are among them."""
        ...

    def frame(self, *, pair: bool = False) -> Frame:
        """What stands around a text, or around two; empty where it can read no two."""
        ...

    def type_ids(self, text: str, pair: str) -> tuple[int, ...]:
        """The segments of a framed pair, as the tokenizer numbers them; all 0 where it knows none."""
        ...

    def decoded(self, ids: Sequence[int]) -> str:
        """The text that ids stand for, without special tokens; U+FFFD for bytes that make no character."""
        ...

    def id_to_token(self, id_: int) -> str | None:
        """An id's entry in the vocabulary."""
        ...


def cut_to(room: int, pieces: Sequence[Pieces]) -> tuple[list[Pieces], list[str | None]]:
    """Whichever is longer cut until they fit; for each a sentence that says what was cut (None: nothing)."""
    found = [len(each.ids) for each in pieces]
    lengths = list(found)
    while sum(lengths) > room:
        lengths[lengths.index(max(lengths))] -= 1
    said = [
        f"Only the first {kept:,} of {there:,} tokens were kept." if kept < there else None
        for kept, there in zip(lengths, found, strict=True)
    ]
    return [each.first(length) for each, length in zip(pieces, lengths, strict=True)], said


def specials_in(frame: Frame) -> int:
    """How many special tokens stand around a text, or two."""
    return sum(place not in (FIRST, SECOND) for place in frame)
