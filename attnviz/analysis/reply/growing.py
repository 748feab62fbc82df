"""A tensor that grows along one axis, in memory that grows with it."""

import torch
from torch import Tensor

_ROOM = 64  # positions of the first allocation


class GrowingTensor:
    """Numbers `(heads, positions, d)` that are appended position by position, and cut back."""

    def __init__(self) -> None:
        self.length = 0
        self._kept: Tensor | None = None

    def append(self, new: Tensor) -> None:
        """Append `(heads, new, d)`. Room grows by half, so that copies stay few."""
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
        """Forget what lies beyond `length` positions."""
        self.length = min(self.length, length)

    @property
    def values(self) -> Tensor:
        """What was appended: a view `(heads, length, d)`."""
        return torch.empty(0, 0, 0) if self._kept is None else self._kept[:, : self.length]

    @property
    def count(self) -> int:
        """How many numbers are stored, room included."""
        return 0 if self._kept is None else self._kept.numel()

    @property
    def nbytes(self) -> int:
        """Bytes of these numbers."""
        return 0 if self._kept is None else self._kept.nbytes
