"""Dropout as an argument of a call, so that no module is ever put into train mode."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Dropout:
    """Set each value to 0 with probability `rate`, and divide the other values by `1 - rate`.

    `generator` makes a run repeatable and leaves the global random numbers alone. `attention` says whether the
    attention weights are dropped too, as in the paper's code and `torch.nn.Transformer`.
    """

    rate: float
    generator: torch.Generator | None = None
    attention: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.rate < 1:
            raise ValueError(f"A dropout rate must be at least 0 and below 1, not {self.rate}.")

    def __call__(self, x: Tensor) -> Tensor:
        """Apply dropout to a tensor.

        Each value uses sixteen random bits (two values per 32-bit draw, which every device supports), so that the rate
        is exact to 1/65536.
        """
        draws = torch.empty((x.numel() + 1) // 2, dtype=torch.int32, device=x.device)
        bits = draws.random_(-(2**31), None, generator=self.generator).view(torch.int16)[: x.numel()]
        keep = bits.view(x.shape) >= round(self.rate * 65536) - 32768
        return x * keep * (1 / (1 - self.rate))


def apply_dropout(x: Tensor, dropout: Dropout | None) -> Tensor:
    """Return `dropout(x)`, or x itself without dropout."""
    return x if dropout is None or dropout.rate == 0 else dropout(x)
