"""Metrics of a head: how sharp its attention is, how far it looks, and how much weight it gives to certain tokens.

Each metric is a mean over rows, computed from the sums that `RowReader` collects from blocks of weights. Rows without
any weight (no visible key, or every key hidden) are left out of the mean; if no row remains, the metric is NaN.
`entropy`, `mean_distance` and `diagonality` describe how a row's weight is distributed, so a row that sums to less than
1 (because special tokens are hidden) is first scaled to sum to 1. Shares use the weights unchanged.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.transformer.masks import first_and_last_key
from attnviz.transformer.row_blocks import RowBlock

PerMap = Float[Tensor, " maps"]
PerRow = Float[Tensor, "maps q_len"]
Cells = tuple[Bool[Tensor, " q_len"], Callable[[slice, slice], Bool[Tensor, "rows keys"]]]
_NEAR = 256  # keys of a block whose distances are written out for each row


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums over each row of some maps, `(maps, q_len)`.

    `weight` is the sum of weights a, `information` the sum of -a ln a, and `distance` the sum of a times the distance
    to its key; the last two are zeros if they were not requested. `on` has, by name, the weight on certain keys, and
    `counted` the rows that have such keys.
    """

    weight: PerRow
    information: PerRow
    distance: PerRow
    on: Mapping[str, PerRow] = field(default_factory=dict)
    counted: Mapping[str, Bool[Tensor, " q_len"]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RowReader:
    """Which sums to collect from the rows of maps.

    `places` are the positions of rows and of columns along the key axis; None if no distances are needed. The other
    fields map a name to the keys on which weight is summed: `beside` to one key for each row (-1 for none), `columns`
    to keys that are the same for all rows, and `cells` to the rows that have such keys and a function that returns
    their cells as a mask.
    """

    places: tuple[Float[Tensor, " q_len"], Float[Tensor, " k_len"]] | None = None
    beside: Mapping[str, Int[Tensor, " q_len"]] = field(default_factory=dict)
    columns: Mapping[str, Int[Tensor, " keys"]] = field(default_factory=dict)
    cells: "Mapping[str, Cells]" = field(default_factory=dict)

    def read(self, shape: tuple[int, int, int], blocks: Iterable[RowBlock]) -> RowSums:
        """Collect the sums in one pass over blocks of weights; `shape` is `(maps, q_len, k_len)`."""
        names = ("weight", "information", "distance", *self.beside, *self.columns, *self.cells)
        sums: dict[str, Tensor] = {}
        counted = {name: (keys >= 0) & (keys < shape[2]) for name, keys in self.beside.items()}
        counted |= {name: torch.ones(shape[1], dtype=torch.bool) for name in self.columns}
        counted |= {name: rows for name, (rows, _) in self.cells.items()}
        wide = _Distances(*self.places) if self.places is not None else None
        for block in blocks:
            found = self._read_block(block, wide)
            for name, (_, cells) in self.cells.items():
                found[name] = (block.attn * cells(block.rows, block.keys).to(block.attn.device)).sum(dim=-1)
            if block.attn.shape[:2] == shape[:2]:  # all that there is
                sums = {name: numbers.cpu() for name, numbers in found.items()}
                continue
            sums = sums or {name: torch.zeros(shape[:2]) for name in found}
            for name, numbers in found.items():
                sums[name][block.heads, block.rows] = numbers.cpu()
        sums |= {name: torch.zeros(shape[:2]) for name in names if name not in sums}
        return RowSums(sums.pop("weight"), sums.pop("information"), sums.pop("distance"), sums, counted)

    def _read_block(self, block: RowBlock, wide: "_Distances | None") -> dict[str, Tensor]:
        attn = block.attn
        if wide is None:
            found = {"weight": attn.sum(dim=-1)}
        else:
            weight, distance = wide.of(block)
            found = {"weight": weight, "distance": distance, "information": block.row_information()}
        if self.beside:
            keys = torch.stack([keys[block.rows] for keys in self.beside.values()], dim=-1)
            found |= dict(zip(self.beside, block.gather(keys.to(attn.device)).unbind(dim=-1), strict=True))
        for name, keys in self.columns.items():
            inside = [key - block.keys.start for key in keys.tolist() if block.keys.start <= key < block.keys.stop]
            found[name] = attn[..., inside].sum(dim=-1)
        return found


class _Distances:
    """Distances between the positions of rows and columns; both are in ascending order."""

    def __init__(self, rows: Tensor, cols: Tensor) -> None:
        self._rows, self._cols = rows, cols
        self._last: tuple[tuple[slice, slice], Tensor] | None = None

    def of(self, block: RowBlock) -> tuple[Tensor, Tensor]:
        """Return, for each row of a block, the sum of its weights and the sum of its weights times the distance to
        their keys.
        """
        attn, keys = block.attn, block.keys
        if attn.shape[-1] <= _NEAR:
            return attn.sum(dim=-1), (attn * self._written_out(block.rows, keys, attn)).sum(dim=-1)
        rows, cols = self._rows[block.rows], self._cols[keys]
        middle = rows.mean()  # sums are taken from here, where rounding is as small as the distances
        near = slice(int((cols < rows.min()).sum()), int((cols <= rows.max()).sum()))
        basis = torch.stack((torch.ones_like(cols), cols - middle), dim=-1).to(attn.device)
        off = (rows - middle).to(attn.device)
        before, after = (_product(attn[..., far], basis[far]) for far in (slice(near.start), slice(near.stop, None)))
        distance = off * before[..., 0] - before[..., 1] + after[..., 1] - off * after[..., 0]
        weight = before[..., 0] + after[..., 0]
        if near.start < near.stop:
            part = attn[..., near]
            own = slice(keys.start + near.start, keys.start + near.stop)
            weight = weight + part.sum(dim=-1)
            distance = distance + (part * self._written_out(block.rows, own, attn)).sum(dim=-1)
        return weight, distance

    def _written_out(self, rows: slice, keys: slice, like: Tensor) -> Tensor:
        if self._last is None or self._last[0] != (rows, keys):
            self._last = (rows, keys), (self._cols[keys] - self._rows[rows].unsqueeze(-1)).abs().to(like.device)
        return self._last[1]


def _product(attn: Tensor, basis: Tensor) -> Tensor:
    """Return `attn @ basis` without copying the weights."""
    return torch.bmm(attn, basis.expand(len(attn), -1, -1))


def places_on_keys(queries: Float[Tensor, " q_len"], lengths: tuple[int, int]) -> Float[Tensor, " q_len"]:
    """Return the position on the key axis that corresponds to each query's position.

    Query i of q_len corresponds to (i + 1/2) * k_len / q_len - 1/2. If both axes are equally long, this is i itself;
    otherwise the query axis is scaled to the length of the key axis. `lengths` is (q_len, k_len) of the whole
    sentences; `queries` are positions in them, fractional for a word.
    """
    q_len, k_len = lengths
    return (queries + 0.5) * (k_len / max(q_len, 1)) - 0.5


def distance_to_diagonal(
    queries: Float[Tensor, " q_len"], keys: Float[Tensor, " k_len"], lengths: tuple[int, int]
) -> Float[Tensor, "q_len k_len"]:
    """Return the distance of each key from the position that corresponds to each query (`places_on_keys`), in key
    tokens.
    """
    return (keys - places_on_keys(queries, lengths)[:, None]).abs()


def entropy(sums: RowSums) -> PerMap:
    """Compute the mean Shannon entropy of rows in bits: 0 for a single key, at most log2(k_len) for uniform weights.

    Under a causal mask, row i sees i + 1 keys and cannot exceed log2(i + 1).
    """
    nats = sums.information / sums.weight + sums.weight.log()  # of a / weight, by the sum over a itself
    return _mean_of_rows(nats.clamp(min=0) / math.log(2), sums.weight)


def mean_distance(sums: RowSums) -> PerMap:
    """Compute the mean distance of the weight from the diagonal, in key tokens, from 0 to k_len - 1 (see
    `places_on_keys`).

    In self-attention this is the weighted mean of |i - j|.
    """
    return _mean_of_rows(sums.distance / sums.weight, sums.weight)


def diagonality(sums: RowSums, farthest: Float[Tensor, "_ q_len"]) -> PerMap:
    """Compute how close the weight is to the diagonal: 1 if all weight is on it, 0 if all weight is as far away as
    possible.

    For each row this is 1 - (mean distance) / (distance of the farthest key that the row may see, `farthest_key`).
    Uniform rows get about 0.5, whatever their length. The idea is from Zhang et al., "On the Usefulness of
    Self-Attention for Automatic Speech Recognition with Transformers" (2021), extended here to q_len != k_len and to
    masks.
    """
    return _mean_of_rows(1 - sums.distance / sums.weight / farthest, sums.weight)


def farthest_key(
    places: tuple[Float[Tensor, " q_len"], Float[Tensor, " k_len"]], mask: Bool[Tensor, "maps q_len k_len"]
) -> Float[Tensor, "maps q_len"]:
    """Return the distance from each row to the farthest key that it may see, which is the first or the last visible
    key.

    The result is never 0, because it is used as a divisor.
    """
    rows, cols = places
    tiny = torch.finfo(rows.dtype).tiny  # of a row whose only key is its own; its mean distance is 0 as well
    if not len(cols):
        return rows.new_full(mask.shape[:2], tiny)
    first, end = first_and_last_key(mask)
    farthest = torch.maximum((cols[first] - rows).abs(), (cols[(end - 1).clamp(min=0)] - rows).abs())
    return torch.where(end > 0, farthest, 0.0).clamp(min=tiny)


def share(sums: RowSums, name: str) -> PerMap:
    """Compute the mean weight, 0 to 1, on the keys with this name, over the rows that have such keys; NaN if none."""
    return _mean_of_rows(sums.on[name], sums.weight, sums.counted[name])


def _mean_of_rows(values: Tensor, weight: Tensor, counted: Tensor | None = None) -> Tensor:
    counts = weight > 0 if counted is None else (weight > 0) & counted
    return torch.where(counts, values, 0.0).sum(dim=-1) / counts.sum(dim=-1)
