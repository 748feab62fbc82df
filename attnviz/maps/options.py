"""Options of a trace's maps. They are apart from `selection`, since pages read them before torch is imported."""

from dataclasses import dataclass
from typing import Literal

Specials = Literal["show", "hide", "renormalise"]


@dataclass(frozen=True)
class MapOptions:
    """The rows and columns of maps.

    `specials`: special tokens are shown, or hidden; "hide" leaves the other weights as they are, "renormalise" lets
    rows sum to 1 again. `words` merges the pieces of a word. `quadrant` keeps queries of one segment and keys of
    another (of a pair: 0 the first sentence, 1 the second; see `Token.segment`); None keeps all.
    Raises ValueError for unknown `specials`.
    """

    specials: Specials = "show"
    words: bool = False
    quadrant: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.specials not in ("show", "hide", "renormalise"):
            raise ValueError(f"specials is 'show', 'hide' or 'renormalise', not {self.specials!r}.")

    @property
    def hides_specials(self) -> bool:
        """Whether special tokens are left out, renormalised or not."""
        return self.specials != "show"

    @property
    def keeps_all(self) -> bool:
        """Whether row and column i are token i: nothing is merged or left out."""
        return self == MapOptions()
