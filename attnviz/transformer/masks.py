"""Functions that make masks: bool tensors, True = may attend, which can be combined with `&`.

Positions count from 0 on both axes. A mask hides keys; it may hide all keys of a query (see
`attention.masked_softmax`).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

_WORD = 0xFFFFFFFF  # 32 bits
_ROWS_CHECKED = 512  # rows of a mask that are compared at once
_CAUSAL = WeakTensorKeyDictionary()  # masks that `remember_causal` has found to hide later keys alone


def padding(ids: Int[Tensor, "batch length"], pad_id: int) -> Bool[Tensor, "batch 1 length"]:
    """Hide keys that are padding, for every query."""
    return (ids != pad_id).unsqueeze(1)


def causal(q_len: int, k_len: int | None = None, *, device: torch.device | None = None) -> Bool[Tensor, "1 q k"]:
    """Let query i see keys up to its own position.

    If `k_len > q_len`, the queries are the last `q_len` of `k_len` positions, as when a cache holds the earlier ones.
    """
    k_len = q_len if k_len is None else k_len
    if k_len < q_len:
        raise ValueError(f"A causal mask needs at least as many keys as queries, not {k_len} for {q_len}.")
    return torch.ones(1, q_len, k_len, dtype=torch.bool, device=device).tril(k_len - q_len)


def remember_causal(mask: Bool[Tensor, "*any q k"]) -> Bool[Tensor, "*any q k"]:
    """Return the mask unchanged, and remember this tensor as causal if each query sees exactly the keys up to its own.

    PyTorch's kernels then need no mask, and skip the products that a mask would only hide. Reading the mask takes time,
    and a GPU waits for it, so this is done once for all layers that share the mask.
    """
    length = mask.shape[-1]
    if mask.shape[-2] == length > 1 and _is_causal(mask):
        _CAUSAL[mask] = True
    return mask


def _is_causal(mask: Bool[Tensor, "*any length length"]) -> bool:
    """Check a mask in blocks of rows, because a copy of a long text's mask would take as much memory as the mask."""
    length, step = mask.shape[-1], mask.shape[-1] if mask.device.type != "cpu" else _ROWS_CHECKED
    for start in range(0, length, step):
        rows = mask[..., start : start + step, :]
        if not bool((rows == rows.new_ones(rows.shape[-2:]).tril(start)).all()):
            return False
    return True


def is_known_causal(mask: Tensor | None) -> bool:
    """Check whether `remember_causal` has found that this very tensor is causal. Copies of the tensor are not known."""
    return mask is not None and mask in _CAUSAL


def full(q_len: int, k_len: int | None = None, *, device: torch.device | None = None) -> Bool[Tensor, "1 q k"]:
    """Let every query see every key: a mask that hides nothing."""
    return torch.ones(1, q_len, q_len if k_len is None else k_len, dtype=torch.bool, device=device)


def sliding_window(q_len: int, k_len: int | None = None, *, reach: int) -> Bool[Tensor, "1 q k"]:
    """Let query i see keys from i - reach to i + reach (Beltagy et al. 2020, Longformer, figure 2b).

    Combine with `& causal(…)` to keep only the part of the window before the query. Raises ValueError for a negative
    reach.
    """
    _require_at_least("reach", reach, 0)
    query, key = _positions(q_len, k_len)
    return ((query - key).abs() <= reach).unsqueeze(0)


def dilated(q_len: int, k_len: int | None = None, *, step: int) -> Bool[Tensor, "1 q k"]:
    """Let query i see every `step`-th key, counted from its own position (Longformer, figure 2c, without the
    window).
    """
    _require_at_least("step", step, 1)
    query, key = _positions(q_len, k_len)
    return ((query - key) % step == 0).unsqueeze(0)


def prefix(q_len: int, k_len: int | None = None, *, length: int) -> Bool[Tensor, "1 q k"]:
    """Let all queries see the first `length` keys, and the other keys as in a causal mask (Raffel et al. 2020, figure
    4).
    """
    _require_at_least("length", length, 0)
    query, key = _positions(q_len, k_len)
    return ((key < length) | (key <= query)).unsqueeze(0)


def block_diagonal(q_len: int, k_len: int | None = None, *, size: int) -> Bool[Tensor, "1 q k"]:
    """Split positions into blocks of `size`; a query sees only the keys of its own block."""
    _require_at_least("size", size, 1)
    query, key = _positions(q_len, k_len)
    return (query // size == key // size).unsqueeze(0)


def wait(q_len: int, k_len: int, *, lead: int) -> Bool[Tensor, "1 q k"]:
    """Let query i see the first i + lead keys, as when a target is written while the source is still arriving.

    This is the counterpart of a causal mask between two sentences: wait-k (Ma et al. 2019, STACL, section 3.1).
    """
    _require_at_least("lead", lead, 1)
    query, key = _positions(q_len, k_len)
    return (key < query + lead).unsqueeze(0)


def random(q_len: int, k_len: int | None = None, *, keep: float, seed: int) -> Bool[Tensor, "1 q k"]:
    """Keep each cell with probability `keep`, independently of the others.

    A cell depends only on the seed and its own position, so that a longer text keeps the cells of a shorter one, as
    decoding one token at a time requires. Raises ValueError for a rate outside 0 to 1.
    """
    if not 0 <= keep <= 1:
        raise ValueError(f"keep must be a share between 0 and 1, not {keep}.")
    query, key = _positions(q_len, k_len)
    return (_uniform(query, key, seed) < keep).unsqueeze(0)


def _positions(q_len: int, k_len: int | None) -> tuple[Int[Tensor, "q 1"], Int[Tensor, "1 k"]]:
    """Return query and key positions, both counted from 0, the queries as a column and the keys as a row."""
    return torch.arange(q_len).unsqueeze(1), torch.arange(q_len if k_len is None else k_len).unsqueeze(0)


def _uniform(query: Int[Tensor, "q 1"], key: Int[Tensor, "1 k"], seed: int) -> Float[Tensor, "q k"]:
    """Hash seed and position to pseudo-random values in [0, 1).

    The mixing steps are those of a 32-bit finalizer (Wellons 2018, "Prospecting for hash functions", lowbias32).
    """
    mixed = (seed * 0x9E3779B1 + query * 0x85EBCA77 + key * 0xC2B2AE3D) & _WORD
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        mixed = ((mixed ^ (mixed >> shift)) * factor) & _WORD
    return (mixed ^ (mixed >> 16)).double() / 2**32


def _require_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}.")


def add_head_axis(mask: Bool[Tensor, "..."] | None) -> Bool[Tensor, "batch heads q k"] | None:
    """Add a head axis of size 1 to a mask with three axes, so that it broadcasts over heads; return other masks
    unchanged.
    """
    if mask is None or mask.dim() == 4:
        return mask
    if mask.dim() != 3:
        raise ValueError(
            f"A mask has axes (batch, q_len, k_len) or (batch, heads, q_len, k_len), not {tuple(mask.shape)}."
        )
    return mask.unsqueeze(1)


@dataclass(frozen=True, eq=False)
class VisibleKeys:
    """The keys that each block of `ROWS` rows may see under a `mask`; without a mask, all keys.

    They are found once and shared by all calls that share the mask.
    """

    ROWS: ClassVar[int] = 128
    mask: Bool[Tensor, "maps rows k_len"] | None  # with 1 for maps or rows where it is the same for all of them
    q_len: int
    k_len: int

    def bounds(self, row: int) -> tuple[int, int, int, int]:
        """Return four key positions for the block that holds a row.

        The first two are the range of keys that any row of the block may see. The last two are the range, within it, of
        the keys that are hidden from some row. Both ranges exclude their end.
        """
        return (0, self.k_len, 0, 0) if self.mask is None else self._bounds[row // self.ROWS]

    def hiding(self, maps: slice, rows: slice, keys: slice) -> Float[Tensor, "maps rows keys"]:
        """Return a tensor that hides keys when it is added to scores: -inf for hidden keys, 0 elsewhere.

        On a CPU, adding it is several times faster than filling scores by a mask. The last one is kept, because the
        other layers of a short text need the same one.
        """
        assert self.mask is not None  # without a mask no key is hidden
        asked = (maps if len(self.mask) > 1 else slice(0, 1), rows, keys)
        if (kept := self._last_hiding.get("last")) is not None and kept[0] == asked:
            return kept[1]
        mask = cut_shared(self.mask, *asked)
        made = torch.zeros(mask.shape, device=mask.device).masked_fill_(~mask, -math.inf)
        self._last_hiding["last"] = asked, made
        return made

    @cached_property
    def _last_hiding(self) -> dict[str, tuple[tuple[slice, slice, slice], Tensor]]:
        return {}

    @cached_property
    def rows_without_keys(self) -> Bool[Tensor, "maps rows 1"] | None:
        """Which rows see no key; None if every row sees one."""
        if self.mask is None or self.k_len == 0:
            return None
        empty = torch.cat([~any_along(rows, -1) for rows in self._blocks], dim=-1).unsqueeze(-1)
        return empty if bool(empty.any()) else None

    def is_of(self, mask: Tensor | None, q_len: int, k_len: int) -> bool:
        """Return whether this object was made from the same mask in memory, for equally many rows and keys."""
        is_same = self.mask is mask if self.mask is None or mask is None else is_same_memory(self.mask, mask)
        return is_same and (self.q_len, self.k_len) == (q_len, k_len)

    @cached_property
    def _bounds(self) -> list[tuple[int, int, int, int]]:
        count = -(-self.q_len // self.ROWS)
        if self.k_len == 0 or count == 0:
            return [(0, 0, 0, 0)] * count
        blocks = [block.flatten(0, 1) for block in self._blocks]
        begins, ends = _first_and_last(torch.stack([any_along(block, 0) for block in blocks]))
        places = torch.arange(self.k_len, device=begins.device)
        between = (places >= begins.unsqueeze(-1)) & (places < ends.unsqueeze(-1))
        hidden = _first_and_last(between & torch.stack([~_all(block, 0) for block in blocks]))
        found = [tuple(bounds) for bounds in torch.stack((begins, ends, *hidden), dim=1).tolist()]
        return found * (count // len(found))  # one for all, if all rows see the same keys

    @property
    def _blocks(self) -> tuple[Tensor, ...]:
        assert self.mask is not None  # the callers have looked
        return self.mask.split(self.ROWS, dim=-2)


def cut_shared(tensor: Tensor, *parts: slice) -> Tensor:
    """Cut the last axes of a tensor. An axis of size 1 stays whole, because it broadcasts."""
    asked = zip(parts, tensor.shape[-len(parts) :], strict=True)
    return tensor[(..., *(part if size > 1 else slice(None) for part, size in asked))]


def shared_once(mask: Bool[Tensor, "maps rows k_len"]) -> Bool[Tensor, "_ _ k_len"]:
    """Reduce the first two axes of a mask to size 1 if all their entries share the same memory, as after `expand`."""
    mask = mask[:1] if mask.stride(0) == 0 else mask
    return mask[:, :1] if mask.stride(1) == 0 else mask


def is_same_memory(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors are the same view of the same memory."""
    same = one.shape == other.shape and one.stride() == other.stride() and one.device == other.device
    return same and one.data_ptr() == other.data_ptr()


def first_and_last_key(
    mask: Bool[Tensor, "maps rows k_len"],
) -> tuple[Int[Tensor, "maps rows"], Int[Tensor, "maps rows"]]:
    """Return the first key that each row may see, and the position after the last; 0 and 0 if it sees none."""
    parts = [_first_and_last(rows) for rows in mask.split(VisibleKeys.ROWS, dim=-2)]
    return torch.cat([first for first, _ in parts], dim=-1), torch.cat([last for _, last in parts], dim=-1)


def any_along(mask: Tensor, dim: int) -> Tensor:
    """Return `mask.any(dim)`, computed as a maximum of bytes, which is seven times faster on a CPU."""
    return mask.view(torch.uint8).amax(dim=dim).view(torch.bool)


def _all(mask: Tensor, dim: int) -> Tensor:
    return mask.view(torch.uint8).amin(dim=dim).view(torch.bool)


def _first_and_last(cells: Bool[Tensor, "*any keys"]) -> tuple[Int[Tensor, "*any"], Int[Tensor, "*any"]]:
    """Return the position of the first True along the last axis and the position after the last; 0 and 0 if none."""
    numbers, there = cells.view(torch.uint8), any_along(cells, -1)
    return numbers.argmax(dim=-1) * there, (cells.shape[-1] - numbers.flip(-1).argmax(dim=-1)) * there
