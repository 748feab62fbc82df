"""Numbers that describe a head: how sharp it is, how far it looks, and how much weight it gives to certain tokens.

They are means over rows of what `RowReader` reads from blocks of weights. Rows that hold no weight (no visible key, or
every key hidden) are left out of a mean; where no row is left the metric is NaN. `entropy`, `mean_distance` and
`diagonality` look at how a row's weight is spread, so a row that sums to less than 1 (special tokens hidden) counts as
if it summed to 1; shares are weights as they stand.
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
    """Sums over each row of some maps, `(maps, q_len)`: its weight, and where they were asked for the sums of -a ln a
    and of a times the distance to its key. `on` has the weights on certain keys by name, and `counted` the rows that
    have such a key.
    """

    weight: PerRow
    information: PerRow
    distance: PerRow
    on: Mapping[str, PerRow] = field(default_factory=dict)
    counted: Mapping[str, Bool[Tensor, " q_len"]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RowReader:
    """What to read from the rows of maps.

    `places` are those of rows and columns along the key axis, None where no distance is wanted. `beside` has for a name
    one key of each row, -1 for none; `columns` has keys that are the same for all rows, and `cells` the rows that
    count, with a function of rows and keys that says which of their cells do.
    """

    places: tuple[Float[Tensor, " q_len"], Float[Tensor, " k_len"]] | None = None
    beside: Mapping[str, Int[Tensor, " q_len"]] = field(default_factory=dict)
    columns: Mapping[str, Int[Tensor, " keys"]] = field(default_factory=dict)
    cells: "Mapping[str, Cells]" = field(default_factory=dict)

    def read(self, shape: tuple[int, int, int], blocks: Iterable[RowBlock]) -> RowSums:
        """Read the blocks of `(maps, q_len, k_len)` weights once."""
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
    """Distances between the places of rows and columns, both in ascending order."""

    def __init__(self, rows: Tensor, cols: Tensor) -> None:
        self._rows, self._cols = rows, cols
        self._last: tuple[tuple[slice, slice], Tensor] | None = None

    def of(self, block: RowBlock) -> tuple[Tensor, Tensor]:
        """Return each row's weight and the sum of its weights times the distance to their keys."""
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
    """Return `attn @ basis`, and copy no weights for it."""
    return torch.bmm(attn, basis.expand(len(attn), -1, -1))


def places_on_keys(queries: Float[Tensor, " q_len"], lengths: tuple[int, int]) -> Float[Tensor, " q_len"]:
    """Return the place on the key axis that each query's own place corresponds to.

    A query at i of q_len tokens corresponds to (i + 1/2) * k_len / q_len - 1/2. Where both axes are equally long that
    is i itself; else both sentences are laid over each other from end to end. `lengths` is (q_len, k_len) of the whole
    sentences; `queries` are positions in them, fractional for a word.
    """
    q_len, k_len = lengths
    return (queries + 0.5) * (k_len / max(q_len, 1)) - 0.5


def distance_to_diagonal(
    queries: Float[Tensor, " q_len"], keys: Float[Tensor, " k_len"], lengths: tuple[int, int]
) -> Float[Tensor, "q_len k_len"]:
    """Return the distance of each key from the place that a query corresponds to (`places_on_keys`), in key tokens."""
    return (keys - places_on_keys(queries, lengths)[:, None]).abs()


def entropy(sums: RowSums) -> PerMap:
    """Shannon entropy of a row, in bits: 0 for one key, at most log2(k_len), reached where all keys weigh the same.

    Under a causal mask row i sees i + 1 keys and cannot exceed log2(i + 1).
    """
    nats = sums.information / sums.weight + sums.weight.log()  # of a / weight, by the sum over a itself
    return _mean_of_rows(nats.clamp(min=0) / math.log(2), sums.weight)


def mean_distance(sums: RowSums) -> PerMap:
    """Mean distance of a row's weight from the diagonal, in key tokens (see `places_on_keys`).

    In self-attention this is the mean of |i - j|. 0 up to k_len - 1.
    """
    return _mean_of_rows(sums.distance / sums.weight, sums.weight)


def diagonality(sums: RowSums, farthest: Float[Tensor, "_ q_len"]) -> PerMap:
    """Nearness of the weight to the diagonal: 1 where all of it is on it, 0 where all of it is as far off as can be.

    For each row, 1 - (mean distance) / (distance of the farthest key that the row may see, `farthest_key`). Rows that
    spread evenly get about 0.5, whatever the length. The idea is that of Zhang et al., "On the Usefulness of
    Self-Attention for Automatic Speech Recognition with Transformers" (2021); here also for q_len != k_len and under
    masks.
    """
    return _mean_of_rows(1 - sums.distance / sums.weight / farthest, sums.weight)


def farthest_key(
    places: tuple[Float[Tensor, " q_len"], Float[Tensor, " k_len"]], mask: Bool[Tensor, "maps q_len k_len"]
) -> Float[Tensor, "maps q_len"]:
    """Return the distance of the farthest key that each row may see, above 0: the first or the last of them."""
    rows, cols = places
    tiny = torch.finfo(rows.dtype).tiny  # of a row whose only key is its own; its mean distance is 0 as well
    if not len(cols):
        return rows.new_full(mask.shape[:2], tiny)
    first, end = first_and_last_key(mask)
    farthest = torch.maximum((cols[first] - rows).abs(), (cols[(end - 1).clamp(min=0)] - rows).abs())
    return torch.where(end > 0, farthest, 0.0).clamp(min=tiny)


def share(sums: RowSums, name: str) -> PerMap:
    """Weight on the keys of that name, 0 to 1: the mean over the rows that have one, NaN where none has."""
    return _mean_of_rows(sums.on[name], sums.weight, sums.counted[name])


def _mean_of_rows(values: Tensor, weight: Tensor, counted: Tensor | None = None) -> Tensor:
    counts = weight > 0 if counted is None else (weight > 0) & counted
    return torch.where(counts, values, 0.0).sum(dim=-1) / counts.sum(dim=-1)
