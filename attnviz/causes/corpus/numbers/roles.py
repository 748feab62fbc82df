"""Roles of the strongest keys of a head's rows, as shares of the rows: a share is no label.

Row roles (`row_roles`, the group "where") divide the rows: in self-attention by how far the strongest key is from the
row's own token, in cross-attention by which side of the diagonal it is on, both sentences laid over each other from
end to end. `what` roles may overlap. Beside each share stands the share of a random key among those that the row may
see.
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
    """Return the roles that divide the rows of a kind: their shares sum to 1."""
    return WHERE_IN_CROSS if kind == "cross" else WHERE_IN_SELF


@dataclass(frozen=True, eq=False)
class RoleCounts:
    """Sums over rows for each head of a kind `(layers, heads)`: rows that hold weight, and by role the rows whose
    strongest key has it (`hits`) and the number that a random key would reach (`lot`).
    """

    rows: Tensor
    hits: Mapping[str, Tensor]
    lot: Mapping[str, Tensor]

    def plus(self, more: "RoleCounts") -> "RoleCounts":
        """Both together."""
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
    """Count the roles in one sentence; `seen` is True where a row may look."""
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
    """By role, the keys that have it for each row `(q_len, k_len)`."""
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
