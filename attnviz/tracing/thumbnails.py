"""Thumbnails of attention maps, in 8 bits, for pictures only: numbers shown to people are float32."""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.transformer.row_blocks import RowBlock, blocks_of_maps

_NARROW = 8  # cells of a window that are compared one after another; wider windows are reduced one by one


class Thumbnails:
    """Make the thumbnails of a layer's maps from blocks of their rows.

    A cell of a thumbnail is the largest weight in its window, so that no peak is lost. The windows are those of
    `torch.nn.functional.adaptive_max_pool2d`. Set `clips` if weights may lie outside of 0 to 1. Raises ValueError if
    `side` is below 1.
    """

    def __init__(self, shape: tuple[int, int, int], side: int, *, clips: bool = False) -> None:
        if side < 1:
            raise ValueError(f"A thumbnail must have at least 1 cell per side, not {side}.")
        self._shape, self._side, self._clips = shape, side, clips
        self._largest: Tensor | None = None  # of each window, in the blocks read so far
        self._made: UInt8[Tensor, "heads rows cols"] | None = None  # of a block that held all weights

    def read(self, block: RowBlock) -> None:
        """Add a block of rows to the thumbnails: keep the largest weight of each window."""
        (heads, q_len, k_len), side = self._shape, self._side
        if not block.attn.shape[-1]:
            return
        attn = _clip(block.attn) if self._clips else block.attn
        if max(q_len, k_len) > side and attn[..., 0].isnan().any():  # a row of NaN hides no other row
            attn = attn.nan_to_num(nan=0.0)
        small, rows = _pool(attn, -2, block.rows, (q_len, side))  # rows first: these lie in memory one after another
        small, cols = _pool(small, -1, block.keys, (k_len, side))
        if attn.shape == self._shape:
            self._made = _in_eight_bits(small)
            return
        if self._largest is None:
            self._largest = attn.new_zeros(heads, min(q_len, side), min(k_len, side))
        place = self._largest[block.heads, rows, cols]
        torch.maximum(place, small, out=place)

    def eight_bits(self) -> UInt8[Tensor, "heads rows cols"]:
        """Return the largest weight in each window, over the blocks read so far: 0 to 255, on the CPU."""
        (heads, q_len, k_len), side = self._shape, self._side
        if self._made is not None:
            return self._made
        if self._largest is None:
            return torch.zeros(heads, min(q_len, side), min(k_len, side), dtype=torch.uint8)
        return _in_eight_bits(self._largest)


def thumbnail(attn: Float[Tensor, "heads q_len k_len"], side: int) -> UInt8[Tensor, "heads rows cols"]:
    """Reduce maps to thumbnails in 8 bits with at most `side` rows and columns. Weights are clipped to 0 to 1."""
    made = Thumbnails((attn.shape[0], attn.shape[1], attn.shape[2]), side, clips=True)
    for block in blocks_of_maps(attn):
        made.read(block)
    return made.eight_bits()


def _in_eight_bits(weights: Float[Tensor, "*any"]) -> UInt8[Tensor, "*any"]:
    return weights.mul(255).clamp_(0, 255).round_().to(torch.uint8).cpu()


def _pool(attn: Tensor, axis: int, place: slice, sizes: tuple[int, int]) -> tuple[Tensor, slice]:
    """Max-pool a part of the maps along one axis; return the result, and which windows of the whole axis it covers.

    `sizes` are the length of the whole axis and its number of windows. `attn` has only the positions `place` of the
    axis, so the first and the last window may be incomplete.
    """
    length, side = sizes
    if length <= side:
        return attn, place
    cells = slice(place.start * side // length, -(-place.stop * side // length))
    step = length // side
    if length % side == 0 and place.start % step == 0 and place.stop % step == 0:
        return _pool_evenly(attn, axis, step), cells
    windows = [
        (max(cell * length // side, place.start), min(-(-(cell + 1) * length // side), place.stop))
        for cell in range(cells.start, cells.stop)
    ]
    if step > _NARROW:
        parts = [attn.narrow(axis, first - place.start, end - first).amax(dim=axis) for first, end in windows]
        return torch.stack(parts, dim=axis), cells
    bounds = torch.tensor(windows, device=attn.device) - place.start
    first, last = bounds[:, 0], bounds[:, 1] - 1
    pooled = attn.index_select(axis, first)
    for nth in range(1, max(end - begin for begin, end in windows)):
        torch.maximum(pooled, attn.index_select(axis, torch.minimum(first + nth, last)), out=pooled)
    return pooled, cells


def _pool_evenly(attn: Tensor, axis: int, step: int) -> Tensor:
    """Max-pool maps along one axis with windows of `step` positions that do not overlap; faster than `_pool`."""
    if step == 2:  # in half the time
        return torch.maximum(*attn.unflatten(axis, (-1, 2)).unbind(dim=axis))
    return attn.unflatten(axis, (-1, step)).amax(dim=axis)


def _clip(attn: Tensor) -> Tensor:
    """Clip weights to 0 to 1, and set NaN to 0. Weights that are within that range already are not copied."""
    if not attn.numel():
        return attn
    low, high = attn.aminmax()
    return attn if low >= 0 and high <= 1 else attn.nan_to_num(nan=0.0).clamp(0, 1)
