"""The question of a step, of one of eight kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CELL, ROW, HEAD, TOKEN, TRANSLATION, NUMBER, CHOICE, TEXT = (
    "cell", "row", "head", "token", "translation", "number", "choice", "text",
)  # fmt: skip
COVERS = ("nothing", "row", "map", "maps", "page")


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high


@dataclass(frozen=True)
class Option:
    """A sentence to choose. `when` is the range of the question's measure in which it is right."""

    text: str
    when: Range | None = None


@dataclass(frozen=True)
class Question:
    """The question of a step.

    `cell`: the `most` cells of most weight, of the whole map or of `row`; `row`: how the weights of `row` are
    distributed; `head`: which of `heads` (layer, head) has most (or, `least`, the least) of `by`; `token`: what the
    model writes after `row`, `translation`: all that it writes; `number`: the `measure`, right within `within`;
    `choice`: one of `options`, the one numbered `right`, or that whose range holds the `measure`; `text`: anything.

    `row` and `col` are positions, or a token's text; `cover` is what the picture hides until the answer is given. Two
    `hints` in words, and `show`, what the spotlight falls on ("row", "map", "grid" or "strip").
    """

    kind: str
    ask: str
    row: str = ""
    col: str = ""
    most: int = 1
    heads: tuple[tuple[int, int], ...] = ()
    by: str = ""
    least: bool = False
    measure: str = ""
    more: Mapping[str, str] | None = None
    within: float = 0.0
    unit: str = ""
    options: tuple[Option, ...] = ()
    right: int | None = None
    hints: tuple[str, ...] = ()
    show: str = ""
    why: str = ""
    cover: str = "nothing"
    line: int = 0

    @property
    def rungs(self) -> int:
        """The number of hints, the spotlight among them."""
        return len(self.hints) + bool(self.show)


def positions(found: Sequence[Any], most: int) -> bool:
    """Check whether something that a browser sent is a list of as many (row, column) pairs at most."""
    pairs = [part for part in found if isinstance(part, Sequence) and len(part) == 2]
    return len(pairs) == len(found) <= most and all(isinstance(at, int) for pair in pairs for at in pair)
