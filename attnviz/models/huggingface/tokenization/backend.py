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
        """What stands around a text, or around two."""
        ...

    def type_ids(self, text: str, pair: str) -> tuple[int, ...]:
        """The segments of a framed pair, as the tokenizer numbers them; all 0 where it knows none."""
        ...

    def decoded(self, ids: Sequence[int]) -> str:
        """The text that ids stand for, without special tokens; U+FFFD for bytes that make no character."""
        ...
