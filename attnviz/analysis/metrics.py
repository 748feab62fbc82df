"""Metrics of a head: how sharp it is, how far it looks, and how much weight it gives to certain tokens.

Each metric takes attn `(…, q_len, k_len)` and returns `(…)`, the mean over rows. Rows without any weight (no visible
key, or every key hidden) are left out of the mean; without any row the metric is NaN. Row sums and weights, which
several metrics share, can be passed in, so that the maps of a long text are read only once. `entropy`, `mean_distance`
and `diagonality` describe how a row's weight is distributed, so a row that sums to less than 1 (special tokens hidden)
counts as if it summed to 1; the masses are not rescaled.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Attn = Float[Tensor, "*any q_len k_len"]
Distance = Float[Tensor, "q_len k_len"]
PerMap = Float[Tensor, "*any"]
PerRow = Float[Tensor, "*any q_len"]

_BLOCK = 1 << 18  # weights per block, 1 MB, so that intermediate results stay in the processor's cache


class RowSums(NamedTuple):
    """Sums over each row of the weights a: Σ a, Σ −a ln a, and Σ a · distance to the key."""

    weight: PerRow
    information: PerRow
    distance: PerRow

    @classmethod
    def from_attn(cls, attn: Attn, distance: Distance | None = None) -> "RowSums":
        """Compute the sums in one pass over the weights, a block of rows at a time.

        `distance` is explained at `mean_distance`.
        """
        distance = _plain_distance(attn) if distance is None else distance
        each = _rows_of_a_block(attn)
        blocks = zip(attn.split(each, dim=-2), distance.split(each), strict=True)
        sums = [(rows.sum(-1), torch.special.entr(rows).sum(-1), (rows * away).sum(-1)) for rows, away in blocks]
        return cls(*(torch.cat(parts, dim=-1) for parts in zip(*sums, strict=True)))


def entropy(attn: Attn, sums: RowSums | None = None) -> PerMap:
    """Shannon entropy of a row, in bits: 0 for a single key, at most log2(k_len), reached if all keys have
    equal weight.

    Under a causal mask, row i sees i + 1 keys and cannot exceed log2(i + 1).
    """
    sums = sums or RowSums.from_attn(attn)
    nats = sums.information / sums.weight + sums.weight.log()  # entropy of a / weight, from the sums over a
    return _mean_of_rows(nats.clamp(min=0) / math.log(2), sums.weight)


def distance_to_diagonal(
    queries: Float[Tensor, " q_len"], keys: Float[Tensor, " k_len"], lengths: tuple[int, int]
) -> Distance:
    """Distance of each key from the position on the key axis that corresponds to the query's position, in key tokens.

    Query i of q_len tokens corresponds to (i + 1/2) * k_len / q_len - 1/2. If both axes have the same length, that is i
    itself, and the distance is |i - j|; otherwise both sentences are scaled to the same length. `lengths` is (q_len,
    k_len) of the whole sentences; `queries` and `keys` are positions in them, fractional for words.
    """
    q_len, k_len = lengths
    place = (queries + 0.5) * (k_len / max(q_len, 1)) - 0.5
    return (keys - place[:, None]).abs()


def mean_distance(attn: Attn, distance: Distance | None = None, sums: RowSums | None = None) -> PerMap:
    """Mean distance of a row's weight from the diagonal, in key tokens (see `distance_to_diagonal`).

    In self-attention this is the mean of |i - j|. It ranges from 0 to k_len - 1.
    """
    sums = sums or RowSums.from_attn(attn, distance)
    return _mean_of_rows(sums.distance / sums.weight, sums.weight)


def diagonality(
    attn: Attn,
    mask: Bool[Tensor, "*#any q_len k_len"] | None = None,
    *,
    distance: Distance | None = None,
    sums: RowSums | None = None,
    farthest: Float[Tensor, "*#any q_len"] | None = None,
) -> PerMap:
    """Measure how close the weight is to the diagonal: 1 if all weight is on it, 0 if all is as far away as possible.

    For each row, 1 - (mean distance) / (distance of the farthest visible key). Rows with uniform weight get about 0.5,
    whatever the length. The idea is from Zhang et al., "On the Usefulness of Self-Attention for Automatic Speech
    Recognition with Transformers" (2021), extended to q_len != k_len and to masks.
    """
    distance = _plain_distance(attn) if distance is None else distance
    sums = sums or RowSums.from_attn(attn, distance)
    farthest = farthest_key(distance, mask) if farthest is None else farthest
    return _mean_of_rows(1 - sums.distance / sums.weight / farthest, sums.weight)


def farthest_key(distance: Distance, mask: Bool[Tensor, "*any q_len k_len"] | None) -> PerRow:
    """Return the distance of the farthest visible key of each row, which is positive.

    Maps with the same mask share it.
    """
    mask = torch.ones_like(distance, dtype=torch.bool) if mask is None else mask
    each = _rows_of_a_block(mask)
    blocks = zip(distance.split(each), mask.split(each, dim=-2), strict=True)
    # A row that sees only its own key has mean distance 0, and counts as 1.
    farthest = [torch.nn.functional.pad(away.masked_fill(~seen, 0.0), (0, 1)).amax(dim=-1) for away, seen in blocks]
    return torch.cat(farthest, dim=-1).clamp(min=torch.finfo(distance.dtype).tiny)


def previous_token(attn: Attn, keys: Int[Tensor, " q_len"] | None = None, weight: PerRow | None = None) -> PerMap:
    """Weight on the token before the query's own, 0 to 1.

    The first row has no such token and is left out. For self-attention only. `keys` gives the position of that key for
    each row, -1 if there is none, for merged or truncated axes.
    """
    return _mass_beside(attn, keys, -1, weight)


def next_token(attn: Attn, keys: Int[Tensor, " q_len"] | None = None, weight: PerRow | None = None) -> PerMap:
    """Weight on the token after the query's own, 0 to 1.

    The last row has no such token and is left out. For self-attention only. `keys` is explained at `previous_token`.
    """
    return _mass_beside(attn, keys, 1, weight)


def first_token_mass(attn: Attn, weight: PerRow | None = None, first: Int[Tensor, " q_len"] | None = None) -> PerMap:
    """Weight on the first key, 0 to 1, which is a common sink.

    `first` gives the first key of each row if several texts are packed into one.
    """
    on_first = attn[..., 0] if first is None else attn[..., torch.arange(len(first)), first]
    return _mean_of_rows(on_first, _weight(attn, weight))


def eos_mass(attn: Attn, keys: Int[Tensor, " n_eos"], weight: PerRow | None = None) -> PerMap:
    """Weight on the end tokens, at the positions `keys`, 0 to 1; NaN if there are none."""
    if not len(keys):
        return attn.new_full(attn.shape[:-2], math.nan)
    return _mean_of_rows(attn[..., keys].sum(dim=-1), _weight(attn, weight))


def induction(attn: Attn, after_earlier: Bool[Tensor, "q_len k_len"], weight: PerRow | None = None) -> PerMap:
    """Weight on the keys right after earlier occurrences of the query's own token, 0 to 1: the target of an
    induction head.

    For self-attention only. Rows whose token occurs for the first time are left out; NaN if all are. Olsson et al.,
    "In-context Learning and Induction Heads" (2022), call this prefix matching.
    """
    rows = after_earlier.any(dim=-1)
    return _mean_of_rows((attn * after_earlier).sum(dim=-1), _weight(attn, weight), rows)


def _rows_of_a_block(maps: Tensor) -> int:
    return max(1, _BLOCK // max(1, maps[..., :1, :].numel()))


def _weight(attn: Tensor, weight: Tensor | None) -> Tensor:
    return attn.sum(dim=-1) if weight is None else weight


def _mean_of_rows(values: Tensor, weight: Tensor, counted: Tensor | None = None) -> Tensor:
    counts = weight > 0 if counted is None else (weight > 0) & counted
    return torch.where(counts, values, 0.0).sum(dim=-1) / counts.sum(dim=-1)


def _plain_distance(attn: Tensor) -> Tensor:
    q_len, k_len = attn.shape[-2:]
    return distance_to_diagonal(torch.arange(q_len).float(), torch.arange(k_len).float(), (q_len, k_len))


def _mass_beside(attn: Tensor, keys: Tensor | None, offset: int, weight: Tensor | None) -> Tensor:
    q_len, k_len = attn.shape[-2:]
    if not k_len:  # every key hidden
        return attn.new_full(attn.shape[:-2], math.nan)
    keys = torch.arange(q_len) + offset if keys is None else keys
    there = (keys >= 0) & (keys < k_len)
    at = keys.clamp(0, k_len - 1).expand(*attn.shape[:-2], q_len)
    return _mean_of_rows(attn.gather(-1, at[..., None]).squeeze(-1), _weight(attn, weight), there)
