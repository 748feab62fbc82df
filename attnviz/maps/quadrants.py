"""The quadrants of a map: from and to a pair's first and second sentence, or a prompt and the generated text.

for quadrant in quadrants(trace, "encoder_self"):
    quadrant.cut(trace.attn("encoder_self", layer=2, head=5))      # A → A, A → B, B → A, B → B
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind

_LETTERS = "AB"


@dataclass(frozen=True)
class Quadrant:
    """The cells where queries of one segment attend to keys of another; `rows` and `columns` are positions in a map."""

    query_segment: int
    key_segment: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the quadrant, such as "A → B": queries of the first segment, keys of the second."""
        return f"{_LETTERS[self.query_segment]} → {_LETTERS[self.key_segment]}"

    def cut(self, maps: Float[Tensor, "*batch q_len k_len"]) -> Float[Tensor, "*batch rows columns"]:
        """Return the quadrant's cells of one or many maps. Rows no longer sum to 1, because other segments also get
        weight.
        """
        return maps[..., list(self.rows), :][..., list(self.columns)]


def quadrants(trace: TraceLike, kind: Kind, item: int = 0) -> tuple[Quadrant, ...]:
    """Return the quadrants of a kind's maps, row by row; only one if the text has a single segment."""
    rows, columns = _places(trace.query_tokens(kind, item)), _places(trace.key_tokens(kind, item))
    return tuple(
        Quadrant(query_segment, key_segment, rows[query_segment], columns[key_segment])
        for query_segment in sorted(rows)
        for key_segment in sorted(columns)
    )


def _places(tokens: Sequence[Token]) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        found.setdefault(token.segment, []).append(place)
    return {segment: tuple(places) for segment, places in found.items()}
