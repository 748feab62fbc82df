"""Row-major order made visible: where each number of a small tensor is in memory, before and after `view`."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Ordering:
    """A tensor of a few numbers. `numbers` are its elements: each says where it lay in memory at first. `places` has
    the same shape and says where each is in memory now.
    """

    code: str
    axes: tuple[str, ...]
    numbers: Tensor
    places: Tensor
    why: str

    @property
    def strides(self) -> tuple[int, ...]:
        """Numbers to skip in memory for one step along each axis."""
        return self.numbers.stride()

    @property
    def is_contiguous(self) -> bool:
        """Whether memory order is the order of the axes."""
        return self.numbers.is_contiguous()


def memory_order(length: int = 3, heads: int = 2, d_k: int = 2) -> tuple[Ordering, ...]:
    """One sentence's projection `(length, heads * d_k)` and what view, transpose and contiguous make of it.

    Raises ValueError for sizes below 1.
    """
    if min(length, heads, d_k) < 1:
        raise ValueError(f"Sizes are at least 1, not {length}, {heads} and {d_k}.")
    flat = torch.arange(length * heads * d_k).view(length, heads * d_k)
    viewed = flat.view(length, heads, d_k)
    turned = viewed.transpose(0, 1)
    return (
        _ordering("x", "length heads·d_k", flat, "Row after row: the last axis runs fastest."),
        _ordering("x.view(length, heads, d_k)", "length heads d_k", viewed, "The same memory, with one more axis."),
        _ordering(
            "x.view(length, heads, d_k).transpose(0, 1)",
            "heads length d_k",
            turned,
            "Still the same memory, read in another order: two strides are swapped.",
        ),
        _ordering(
            "….transpose(0, 1).contiguous()",
            "heads length d_k",
            turned.contiguous(),
            "Copied, so the numbers are in order in memory again.",
        ),
        _ordering(
            "x.view(heads, length, d_k)",
            "heads length d_k",
            flat.view(heads, length, d_k),
            "The mistake: the same shape as the transpose, but other numbers in its cells. A head gets whole tokens.",
        ),
    )


def _ordering(code: str, axes: str, numbers: Tensor, why: str) -> Ordering:
    places = torch.zeros(numbers.shape, dtype=torch.long)
    for axis, (size, stride) in enumerate(zip(numbers.shape, numbers.stride(), strict=True)):
        places += (torch.arange(size) * stride).view(-1, *(1,) * (numbers.dim() - axis - 1))
    return Ordering(code, tuple(axes.split()), numbers, places, why)
