"""The inputs of an attention function: one site's weights, its input tensors, a mask, and optionally dropout."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.dropout import Dropout


@dataclass(frozen=True, eq=False)
class SiteInputs:
    """Inputs of an attention function: `input_` `(batch, q_len, d_model)`, `memory` `(batch, k_len, d_model)`,
    and a mask as in `Attention`.

    `drop` is the dropout rate on the weights and `seed` its random seed; `off` is a head that is switched off.
    `norm_first` is True if the layer normalises its input before attention.
    """

    weights: SiteWeights
    input_: Tensor
    memory: Tensor
    mask: Tensor | None = None
    drop: float = 0.0
    seed: int = 0
    norm_first: bool = True
    off: int | None = None

    @property
    def call(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """The arguments of an attention function."""
        return self.input_, self.memory, self.mask

    @property
    def dropout(self) -> Dropout | None:
        """The dropout on the attention weights, with the same random numbers in each call; None without dropout."""
        return Dropout(self.drop, torch.Generator().manual_seed(self.seed)) if self.drop else None

    @property
    def cells(self) -> Tensor:
        """True for the cells that may be attended to, `(batch, heads, q_len, k_len)`."""
        shape = (len(self.input_), self.input_.shape[1], self.memory.shape[1])
        mask = torch.ones(1, 1, 1, dtype=torch.bool) if self.mask is None else self.mask
        return mask.expand(shape).unsqueeze(1).expand(-1, self.weights.n_heads, -1, -1)

    def visible_rows(self, attn: Tensor) -> Tensor:
        """Return the rows of a map that see at least one key, `(rows, k_len)`."""
        return attn[self.cells.any(dim=-1)]

    def with_head_ignored(self) -> "SiteInputs":
        """Return the inputs with a `W_o` that ignores the head that is off."""
        assert self.off is not None
        read = self.weights.W_o.clone()
        read[:, self.weights.rows(self.off, self.weights.d_v)] = 0
        return replace(self, weights=replace(self.weights, W_o=read))

    def with_other_last_token(self) -> "SiteInputs":
        """Return the inputs with another last token, in both input and memory."""
        memory = self.memory.clone()
        memory[:, -1] = -memory[:, -1]
        input_ = memory if self.input_ is self.memory else self.input_
        return replace(self, input_=input_, memory=memory)

    def one_pass(self) -> "SiteInputs":
        """Return the inputs of causal self-attention over the whole memory."""
        length = self.memory.shape[1]
        causal = torch.ones(1, length, length, dtype=torch.bool).tril()
        return replace(self, input_=self.memory, mask=causal)

    def last_step(self) -> "SiteInputs":
        """Return the inputs of the last step on a cache: only the newest token, which sees the whole memory."""
        seen = torch.ones(1, 1, self.memory.shape[1], dtype=torch.bool)
        return replace(self, input_=self.memory[:, -1:], mask=seen)


def odd_sized_inputs(*, drop: float = 0.0, blind_row: bool = False, padded: bool = False) -> SiteInputs:
    """Make inputs whose sizes are all different, so that no bug is hidden: batch 2, heads 3, length 5, d_model
    17, d_k 11, d_v 13, and a causal mask.

    With `blind_row`, the first query of the second item sees no key, like a padded row. With `padded`, the mask hides
    the last two keys of the second item instead, like an encoder's.
    """
    weights = SiteWeights.random(3, 17, d_k=11, d_v=13, seed=4)
    x = torch.randn(2, 5, 17, generator=torch.Generator().manual_seed(5))
    mask = torch.ones(2, 5, 5, dtype=torch.bool).tril()
    if blind_row:
        mask[1, 0] = False
    if padded:
        mask = torch.ones(2, 1, 5, dtype=torch.bool)
        mask[1, :, -2:] = False
    return SiteInputs(weights, x, x, mask, drop)
