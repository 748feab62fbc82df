"""Roles of the strongest key of each query, as shares of a head's queries.

The roles of `row_roles` (the group "where") divide the queries: in self-attention by the distance from the query's own
token to its strongest key, in cross-attention by the side of the diagonal on which the key is, with both sentences
scaled to the same length. The roles in `WHAT` may overlap. Each share comes with the share that a random visible key
would reach.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.analysis.metric_table import end_keys
from attnviz.analysis.metrics import distance_to_diagonal
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.transformer.probe import Kind

WHERE_IN_SELF: tuple[str, ...] = ("previous token", "itself", "next token", "farther back", "farther ahead")
WHERE_IN_CROSS: tuple[str, ...] = ("diagonal", "before the diagonal", "after the diagonal")
WHAT: tuple[str, ...] = ("first token", "end token", "same token")


def row_roles(kind: Kind) -> tuple[str, ...]:
    """Return the position roles for an attention kind. Their shares sum to 1."""
    return WHERE_IN_CROSS if kind == "cross" else WHERE_IN_SELF


@dataclass(frozen=True, eq=False)
class RoleCounts:
    """Counts of queries for each head of a kind `(layers, heads)`.

    `rows` counts queries that have weight. For each role, `hits` counts the queries whose strongest key has the role,
    and `lot` is the number that random keys would reach.
    """

    rows: Tensor
    hits: Mapping[str, Tensor]
    lot: Mapping[str, Tensor]

    def plus(self, more: "RoleCounts") -> "RoleCounts":
        """Return the sum of these counts and `more`."""
        hits, lot = (
            {role: one[role] + other[role] for role in one}
            for one, other in ((self.hits, more.hits), (self.lot, more.lot))
        )
        return RoleCounts(self.rows + more.rows, hits, lot)


def role_counts(
    attn: Float[Tensor, "layers heads q_len k_len"],
    seen: Bool[Tensor, "layers heads q_len k_len"],
    sentence: Sentence,
    kind: Kind,
) -> RoleCounts:
    """Count the roles in one sentence. `seen` is True where a query may attend."""
    counted = attn.sum(dim=-1) > 0
    strongest = attn.argmax(dim=-1, keepdim=True)
    visible = seen.sum(dim=-1).clamp(min=1)
    hits, lot = {}, {}
    for role, fits in _fits(kind, sentence.queries(kind), sentence.keys(kind)).items():
        hit = fits.expand(attn.shape).gather(-1, strongest).squeeze(-1)
        hits[role] = (hit & counted).sum(dim=-1).double()
        lot[role] = ((seen & fits).sum(dim=-1) / visible * counted).double().sum(dim=-1)
    return RoleCounts(counted.sum(dim=-1).double(), hits, lot)


def _fits(kind: Kind, queries: tuple[Token, ...], keys: tuple[Token, ...]) -> dict[str, Tensor]:
    """Return, for each role, a mask `(q_len, k_len)` of the keys that have this role for each query."""
    row, col = torch.arange(len(queries)).unsqueeze(1), torch.arange(len(keys)).unsqueeze(0)
    same = torch.tensor([[query.id == key.id for key in keys] for query in queries])
    ends = torch.zeros(1, len(keys), dtype=torch.bool)
    ends[0, end_keys(keys)] = True
    what = (col == 0).expand(same.shape), ends.expand(same.shape)
    if kind == "cross":
        away = distance_to_diagonal(row[:, 0].float(), col[0].float(), (len(queries), len(keys)))
        before = (col + 0.5) / len(keys) < (row + 0.5) / len(queries)
        near = away <= 1
        return dict(zip(WHERE_IN_CROSS, (near, ~near & before, ~near & ~before), strict=True)) | dict(
            zip(WHAT, (*what, same), strict=True)
        )
    off = col - row
    places = (off == -1, off == 0, off == 1, off < -1, off > 1)
    return dict(zip(WHERE_IN_SELF, places, strict=True)) | dict(zip(WHAT, (*what, same & (off != 0)), strict=True))
