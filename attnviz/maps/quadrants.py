"""The parts of a map: a pair's first and second sentence, or a prompt and what was written after it.

for quadrant in quadrants(trace, "encoder_self"):
    quadrant.cut(trace.attn("encoder_self", layer=2, head=5))      # A → A, A → B, B → A, B → B
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

_LETTERS = "AB"


@dataclass(frozen=True)
class Quadrant:
    """The cells in which queries of one part look at keys of one part; `rows` and `columns` are positions in a map."""

    query_part: int
    key_part: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def name(self) -> str:
        """Such as "A → B": queries of the first part, keys of the second."""
        return f"{_LETTERS[self.query_part]} → {_LETTERS[self.key_part]}"

    def cut(self, maps: Float[Tensor, "*batch q_len k_len"]) -> Float[Tensor, "*batch rows columns"]:
        """Its cells of one map or of many. Rows no longer sum to 1: the rest went to the other part."""
        return maps[..., list(self.rows), :][..., list(self.columns)]


def quadrants(trace: Trace, kind: Kind, item: int = 0) -> tuple[Quadrant, ...]:
    """The quadrants of a kind's maps, row by row; a single one where there is only one part."""
    rows, columns = _places(trace.query_tokens(kind, item)), _places(trace.key_tokens(kind, item))
    return tuple(
        Quadrant(query_part, key_part, rows[query_part], columns[key_part])
        for query_part in sorted(rows)
        for key_part in sorted(columns)
    )


def _places(tokens: Sequence[Token]) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        found.setdefault(token.part, []).append(place)
    return {part: tuple(places) for part, places in found.items()}
