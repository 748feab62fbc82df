"""Reduce attention maps to 8-bit thumbnails for pictures. Values that are shown as numbers stay float32."""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor


def thumbnail(attn: Float[Tensor, "heads q_len k_len"], side: int) -> UInt8[Tensor, "heads rows cols"]:
    """Reduce weights between 0 and 1 to 8 bits and at most `side` rows and columns, on the weights' device.

    A cell of a reduced map is the largest weight in its window, so that no peak is lost; the windows are those of
    `torch.nn.functional.adaptive_max_pool2d`. Raises ValueError if `side` is below 1.
    """
    if side < 1:
        raise ValueError(f"A map has at least 1 cell a side, not {side}.")
    for axis in (-2, -1):  # rows first: whole rows are read in the order in which they lie in memory
        attn = _pool(attn, axis, side) if attn.shape[axis] > side else attn
    return attn.mul(255).round_().to(torch.uint8)


def _pool(attn: Tensor, axis: int, side: int) -> Tensor:
    """Return the maximum of each of `side` windows along one axis, comparing one element of every window at a time."""
    length = attn.shape[axis]
    if length % side == 0:
        return _pool_evenly(attn, axis, side)
    cells = torch.arange(side, device=attn.device)
    first = cells * length // side
    last = -(-(cells + 1) * length // side) - 1
    pooled = attn.index_select(axis, first)
    for step in range(1, int((last - first).max()) + 1):
        torch.maximum(pooled, attn.index_select(axis, torch.minimum(first + step, last)), out=pooled)
    return pooled


def _pool_evenly(attn: Tensor, axis: int, side: int) -> Tensor:
    """Return the same as `_pool` if all windows have equal length and do not overlap, without copying elements."""
    if axis == -1:
        return attn.unflatten(-1, (side, -1)).amax(dim=-1)
    first, *others = attn.unflatten(axis, (side, -1)).unbind(dim=axis)
    pooled = torch.maximum(first, others[0])
    for other in others[1:]:
        torch.maximum(pooled, other, out=pooled)
    return pooled


def clip_weights(attn: Float[Tensor, "heads q_len k_len"]) -> Float[Tensor, "heads q_len k_len"]:
    """Clip weights to 0 to 1, and turn NaN into 0; weights that are all within that range are returned without
    a copy.
    """
    low, high = attn.aminmax()
    return attn if low >= 0 and high <= 1 else attn.nan_to_num(nan=0.0).clamp(0, 1)
