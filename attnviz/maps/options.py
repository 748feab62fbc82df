"""Options for a trace's maps, separate from `selection` because pages read them before torch is imported."""

from dataclasses import dataclass
from typing import Literal

Specials = Literal["show", "hide", "renormalise"]
SPANS: Literal["spans"] = "spans"
Merging = bool | Literal["spans"]

WEIGHT, NORM, SHARE = "weight", "norm", "share"  # measures of a map's cells


@dataclass(frozen=True)
class MapOptions:
    """Which rows and columns maps have.

    `specials` shows or hides special tokens: "hide" leaves the other weights as they are, "renormalise" makes rows sum
    to 1 again. `words` merges the pieces of a word or, with "spans", the tokens of a span, such as a turn of a
    conversation: weights to a span are summed, rows of a span are averaged. `quadrant` keeps queries of one segment and
    keys of another (in a pair, 0 is the first sentence and 1 the second; see `Token.segment`); None keeps all. Raises
    ValueError for unknown `specials` and `words`.
    """

    specials: Specials = "show"
    words: Merging = False
    quadrant: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.specials not in ("show", "hide", "renormalise"):
            raise ValueError(f"specials must be 'show', 'hide' or 'renormalise', not {self.specials!r}.")
        if not isinstance(self.words, bool | int) and self.words != SPANS:
            raise ValueError(f"words must be True, False or 'spans', not {self.words!r}.")

    @property
    def hides_specials(self) -> bool:
        """Whether special tokens are left out, with or without renormalising the rows."""
        return self.specials != "show"

    @property
    def merges_words(self) -> bool:
        """Whether the pieces of a word are merged."""
        return bool(self.words) and not self.folds

    @property
    def folds(self) -> bool:
        """Whether the tokens of a span are merged."""
        return self.words == SPANS
