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
    """The numbers from `low` to `high`, both included."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high


@dataclass(frozen=True)
class Option:
    """A sentence to choose. `when` is the range of the question's measure in which this option is right."""

    text: str
    when: Range | None = None


@dataclass(frozen=True)
class Question:
    """The question of a step.

    The kinds ask for:

    - `cell`: the `most` cells with the largest weights in the whole map or in `row`.
    - `row`: the distribution of the weights in `row`.
    - `head`: the one of `heads`, as (layer, head), with the largest value of `by`, or the smallest with `least`.
    - `token`: the token that the model writes after `row`; `translation`: the whole text that it writes.
    - `number`: the value of `measure`, which is right within the tolerance `within`.
    - `choice`: one of `options`: the one numbered `right`, or the one whose range contains the value of `measure`.
    - `text`: any text.

    `row` and `col` are positions or the texts of tokens. `cover` is what the picture hides until the question is
    answered. `hints` has up to two hints in words, and `show` what the spotlight falls on as a third hint ("row",
    "map", "grid" or "strip").
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
        """The number of hints, including the spotlight."""
        return len(self.hints) + bool(self.show)


def positions(found: Sequence[Any], most: int) -> bool:
    """Check whether a value from a browser is a list of at most `most` pairs (row, column) of integers."""
    pairs = [part for part in found if isinstance(part, Sequence) and len(part) == 2]
    return len(pairs) == len(found) <= most and all(isinstance(at, int) for pair in pairs for at in pair)
