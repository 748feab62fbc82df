"""Token embeddings (Vaswani et al. 2017, section 3.4) and sinusoidal positions (section 3.5)."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnviz.transformer.config import ModelConfig


def sinusoidal_positions(length: int, d_model: int, *, start: int = 0) -> Float[Tensor, "length d_model"]:
    """Return the position vectors `start, start + 1, …`: sine in even columns, cosine in odd columns.

    Wavelengths go from 2 pi to 10000 * 2 pi.
    """
    position = torch.arange(start, start + length, dtype=torch.float32).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float32) * (-math.log(10_000.0) / d_model))
    angle = position * frequency
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(start_dim=1)


class Embedding(nn.Module):
    """Embed ids as `sqrt(d_model) * W[ids]`, plus positions if the config asks for them.

    The same weight, transposed, turns hidden states into logits (section 3.4).
    """

    RESERVED = 512  # positions computed in advance; longer texts compute theirs when needed

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.empty(config.vocab_size, config.d_model))
        self.scale = math.sqrt(config.d_model)
        self.positions: Tensor | None
        self.register_buffer("positions", None, persistent=False)
        # A model without storage gets its positions with its weights. Besides, `arange` on the meta device imports
        # torch's compiler, and that takes a second.
        if not self.weight.is_meta:
            self.restore_positions(self.weight.device)

    def restore_positions(self, device: torch.device | str) -> None:
        """Compute the table of positions on `device`, because a checkpoint does not contain it."""
        if self.config.positions:
            self.positions = sinusoidal_positions(self.RESERVED, self.config.d_model).to(device)

    def forward(self, ids: Int[Tensor, "batch length"], start: int = 0) -> Float[Tensor, "batch length d_model"]:
        """Embed ids whose first column is at position `start`."""
        x = nn.functional.embedding(ids, self.weight) * self.scale
        return x if self.positions is None else x + self._positions(start, ids.shape[1]).to(x)

    def logits(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab_size"]:
        """Return the scores of every vocabulary entry, computed with the tied weight."""
        return nn.functional.linear(hidden, self.weight)

    def _positions(self, start: int, length: int) -> Tensor:
        assert self.positions is not None  # the caller asked
        if start + length <= len(self.positions):
            return self.positions[start : start + length]
        return sinusoidal_positions(length, self.positions.shape[1], start=start)
