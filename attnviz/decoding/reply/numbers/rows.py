"""Attention rows of a growing text, stored as queries and keys.

Storing all weights would take memory quadratic in the length. Queries and keys are stored in the model's dtype, and
weights are computed from them in float32 when needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.transformer.attention import call_attn
from attnviz.transformer.probe import AttentionCall, Site

_ROOM = 64  # positions in the first allocation


class GrowingTensor:
    """A tensor `(heads, positions, d)` to which positions are appended, and which can be truncated."""

    def __init__(self) -> None:
        self.length = 0
        self._kept: Tensor | None = None

    def append(self, new: Tensor) -> None:
        """Append `(heads, new, d)`. The capacity grows by half at a time, so that copies are rare."""
        end = self.length + new.shape[1]
        if self._kept is None or end > self._kept.shape[1]:
            room = max(_ROOM, end, 0 if self._kept is None else 3 * self._kept.shape[1] // 2)
            grown = new.new_empty(new.shape[0], room, new.shape[2])
            if self._kept is not None:
                grown[:, : self.length] = self._kept[:, : self.length]
            self._kept = grown
        self._kept[:, self.length : end] = new
        self.length = end

    def cut(self, length: int) -> None:
        """Truncate to `length` positions."""
        self.length = min(self.length, length)

    @property
    def values(self) -> Tensor:
        """The appended values, as a view `(heads, length, d)`."""
        return torch.empty(0, 0, 0) if self._kept is None else self._kept[:, : self.length]

    @property
    def count(self) -> int:
        """Number of allocated values, including spare capacity."""
        return 0 if self._kept is None else self._kept.numel()

    @property
    def nbytes(self) -> int:
        """Bytes of the allocated values."""
        return 0 if self._kept is None else self._kept.nbytes


@dataclass(frozen=True, eq=False)
class _LikeCalls:
    """The properties that all attention calls at a site share, unlike queries, keys, values and masks."""

    scale: float
    softcap: float | None
    sinks: Tensor | None


class SiteRows:
    """The attention rows at one site.

    Rows that do not follow from queries and keys (because of a bias, weights set by an intervention, or a mask that
    differs between heads) are stored as float32 weights.
    """

    def __init__(self) -> None:
        self._queries, self._keys = GrowingTensor(), GrowingTensor()
        self._groups = 0  # number of query heads that share a key head
        self._ranges: dict[int, tuple[int, ...]] = {}  # row -> edges of its visible ranges, if they do not start at 0
        self._whole: dict[int, Tensor] = {}  # row -> weights `(heads, keys)`
        self._like: _LikeCalls | None = None

    def append(self, call: AttentionCall) -> None:
        """Append the rows of a recorded attention call, whose keys cover all positions up to its last query."""
        query, key, start = call.query[0], call.key[0], self._queries.length
        if start + query.shape[1] != key.shape[1]:
            raise ValueError(f"A step has {key.shape[1]} keys where {start + query.shape[1]} were expected.")
        self._append_keys(key[:, start:])
        self._queries.append(query)
        self._like = self._like or _LikeCalls(call.scale, call.softcap, call.sinks)
        if call.bias is not None or call.edited is not None or (call.mask is not None and call.mask.shape[1] > 1):
            for at, row in enumerate(call_attn(call)[0].transpose(0, 1)):
                self._whole[start + at] = row[:, : start + at + 1].clone()
        elif call.mask is not None:
            self._note_ranges(call.mask[0, 0].expand(query.shape[1], -1), start)

    def _append_keys(self, new: Tensor) -> None:
        groups = self._groups or _group_size(new)
        if groups > 1 and not _is_grouped(new, groups):  # an intervention changed one head's key
            ungrouped, values = GrowingTensor(), self._keys.values
            if len(values):
                ungrouped.append(values.repeat_interleave(groups, dim=0))
            self._keys, groups = ungrouped, 1
        self._groups = groups
        self._keys.append(new[::groups])

    def _note_ranges(self, mask: Tensor, start: int) -> None:
        """Store the visible ranges of rows in which the mask hides more than later positions."""
        hides = ~mask & torch.ones_like(mask).tril(start)
        for at in hides.any(dim=1).nonzero().flatten().tolist():
            padded = torch.nn.functional.pad(mask[at, : start + at + 1].int(), (1, 1))
            self._ranges[start + at] = tuple(padded.diff().nonzero().flatten().tolist())

    def cut(self, length: int) -> None:
        """Drop the rows and keys from position `length` on."""
        self._queries.cut(length)
        self._keys.cut(length)
        for kept in (self._ranges, self._whole):
            for row in [row for row in kept if row >= length]:
                del kept[row]

    def weights(self, head: int | None, start: int, stop: int) -> Tensor:
        """Compute the weights of rows `start` to `stop`, `(heads, rows, stop)`, for one head or for all."""
        if self._like is None:
            raise ValueError("Nothing was read yet.")
        heads = slice(None) if head is None else slice(head, head + 1)
        keys = self._keys.values[:, :stop].repeat_interleave(self._groups, dim=0)[heads].unsqueeze(0)
        sinks = self._like.sinks
        call = AttentionCall(
            self._queries.values[heads, start:stop].unsqueeze(0), keys, keys, self._like.scale,
            mask=self._mask(start, stop), softcap=self._like.softcap, sinks=None if sinks is None else sinks[:, heads],
        )  # fmt: skip
        made = call_attn(call)[0]
        for row in range(start, stop):
            if row in self._whole:
                made[:, row - start] = 0
                made[:, row - start, : row + 1] = self._whole[row][heads]
        return made.cpu()

    def _mask(self, start: int, stop: int) -> Tensor:
        mask = torch.ones(stop - start, stop, dtype=torch.bool, device=self._keys.values.device).tril(start)
        for row in range(start, stop):
            if (edges := self._ranges.get(row)) is not None:
                mask[row - start] = False
                for first, last in zip(edges[::2], edges[1::2], strict=True):
                    mask[row - start, first:last] = True
        return mask[None, None]

    @property
    def length(self) -> int:
        """Number of rows."""
        return self._queries.length

    @property
    def count(self) -> int:
        """Number of stored values."""
        lists = sum(map(len, self._ranges.values())) + sum(row.numel() for row in self._whole.values())
        return self._queries.count + self._keys.count + lists

    @property
    def nbytes(self) -> int:
        """Bytes of the stored values."""
        whole = sum(row.nbytes for row in self._whole.values())
        return self._queries.nbytes + self._keys.nbytes + whole


class ReplyRows:
    """The attention rows of every layer for a decoder's text."""

    def __init__(self) -> None:
        self._sites: list[SiteRows] = []

    def append(self, calls: Mapping[Site, AttentionCall]) -> None:
        """Append the rows that a decoding step computed."""
        found = sorted(site for site in calls if site.kind == "decoder_self")
        if not self._sites:
            self._sites = [SiteRows() for _ in found]
        for rows, site in zip(self._sites, found, strict=True):
            rows.append(calls[site])

    def cut(self, length: int) -> None:
        """Drop the rows from position `length` on."""
        for rows in self._sites:
            rows.cut(length)

    def weights(
        self, *, layer: int | None = None, head: int | None = None, start: int = 0, stop: int | None = None
    ) -> Tensor:
        """Compute weights `(layers, heads, rows, keys)` of rows `start` to `stop`, without the dimensions that
        `layer` and `head` select.
        """
        stop = self.length if stop is None else stop
        chosen = self._sites if layer is None else [self._sites[layer]]
        made = torch.stack([rows.weights(head, start, stop) for rows in chosen])
        made = made if head is None else made[:, 0]
        return made if layer is None else made[0]

    def mean(self, *, layer: int | None, head: int | None, start: int, stop: int) -> Tensor:
        """Compute weights `(rows, keys)`, averaged over layers and heads unless one is selected."""
        chosen = self._sites if layer is None else [self._sites[layer]]
        return sum((rows.weights(head, start, stop).mean(dim=0) for rows in chosen), torch.zeros(())) / len(chosen)

    @property
    def length(self) -> int:
        """Number of rows that every layer has. An interrupted step leaves extra rows in some layers."""
        return min((rows.length for rows in self._sites), default=0)

    @property
    def count(self) -> int:
        """Number of stored values."""
        return sum(rows.count for rows in self._sites)

    @property
    def nbytes(self) -> int:
        """Bytes of the stored values."""
        return sum(rows.nbytes for rows in self._sites)


def _group_size(keys: Tensor) -> int:
    """Return how many neighbouring heads have the same keys, because transformers repeats a shared key head."""
    heads = keys.shape[0]
    sizes = (size for size in range(heads, 1, -1) if heads % size == 0)
    return next((size for size in sizes if _is_grouped(keys, size)), 1)


def _is_grouped(keys: Tensor, size: int) -> bool:
    grouped = keys.unflatten(0, (-1, size))
    return bool((grouped == grouped[:, :1]).all())
