"""Distance between two runs' attention maps, head by head: the Jensen-Shannon divergence of rows (Lin 1991)."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

Pairs = Sequence[tuple[int, int]]  # paired positions in the two runs


def jensen_shannon(p: Float[Tensor, "*rows keys"], q: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows"]:
    """Compute the Jensen-Shannon divergence in bits: 0 for equal distributions, 1 for disjoint ones.

    Rows that do not sum to 1, such as rows with a sink or with keys left out, are normalised first. If both rows are
    empty the result is 0; if only one is empty or has NaN, it is NaN.
    """
    sums = [row.double().sum(dim=-1, keepdim=True) for row in (p, q)]
    empty = (sums[0] == 0) & (sums[1] == 0)
    p, q = (row.double() / total for row, total in zip((p, q), sums, strict=True))
    both = (p + q) / 2
    found = (_entropy(both) - (_entropy(p) + _entropy(q)) / 2).clamp(min=0, max=1)
    equal = (p == q).all(dim=-1)
    return torch.where(empty.squeeze(-1) | equal, 0.0, found).float()


def heads_apart(here: TraceLike, there: TraceLike, kind: Kind) -> Float[Tensor, "layers heads"]:
    """Compute each head's mean divergence over rows between two runs on the same tokens, in bits.

    It is exactly 0 for a head whose map did not change.
    """
    layers = range(here.shape(kind)[0])
    return torch.stack(
        [jensen_shannon(here.attn(kind, layer=at), there.attn(kind, layer=at)).mean(dim=-1) for at in layers]
    )


def pair_weights(p: Tensor, q: Tensor, cols: Pairs) -> tuple[Tensor, Tensor]:
    """Return each run's weights over the paired keys, followed by its total weight on unpaired keys."""
    kept = p[..., [here for here, _ in cols]], q[..., [there for _, there in cols]]
    rest = [weights.sum(dim=-1, keepdim=True) - own.sum(dim=-1, keepdim=True)
            for weights, own in zip((p, q), kept, strict=True)]  # fmt: skip
    lone = [_drop_rounding(part) for part in rest]
    none = torch.zeros_like(lone[0])
    return torch.cat([kept[0], lone[0], none], dim=-1), torch.cat([kept[1], none, lone[1]], dim=-1)


def _drop_rounding(part: Tensor) -> Tensor:
    return torch.where(part.abs() < 1e-6, torch.zeros_like(part), part).clamp(min=0)


def divergence_by_kind(here: TraceLike, there: TraceLike) -> Mapping[Kind, Float[Tensor, "layers heads"]]:
    """Return `heads_apart` for every attention kind."""
    return {kind: heads_apart(here, there, kind) for kind in here.kinds}


def _entropy(p: Tensor) -> Tensor:
    return -torch.special.xlogy(p, p).sum(dim=-1) / torch.log(torch.tensor(2.0, dtype=p.dtype))
