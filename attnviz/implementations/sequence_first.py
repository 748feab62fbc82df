"""Attention with the sequence dimension first: einsum, mask preparation, and scores that a subclass may replace."""

import math

import torch
from torch import Tensor, nn

from attnviz.implementations.weights import SiteWeights, linear


class SequenceFirstAttention(nn.Module):
    """Attention on tensors `(length, batch, heads, d_k)`, with scores `(q_len, k_len, batch, heads)`.

    It uses einsum, because a batched product would need its matrices in the last two dimensions.
    """

    def __init__(self, weights: SiteWeights) -> None:
        super().__init__()
        self.n_heads, self.scoring = weights.n_heads, weights.scoring
        self.query, self.key, self.value, self.output = (linear(weight, bias) for weight, bias in weights.pairs)

    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Compute query times key without scaling, `(q_len, k_len, batch, heads)`; a subclass may override it."""
        return torch.einsum("ibhd,jbhd->ijbh", query, key)

    def prepare_mask(self, mask: Tensor, q_len: int, k_len: int, batch: int) -> Tensor:
        """Add a head dimension to a mask `(q_len or 1, k_len, batch or 1)`.

        Raise ValueError for other sizes, and for a mask that is not bool.
        """
        if mask.dtype != torch.bool:
            raise ValueError(
                f"A mask is bool, True = may attend, not {str(mask.dtype).removeprefix('torch.')}: mask != 0."
            )
        allowed = ((1, q_len), (k_len,), (1, batch))
        if mask.dim() != 3 or any(size not in sizes for size, sizes in zip(mask.shape, allowed, strict=True)):
            raise ValueError(
                f"A sequence-first mask has axes (q_len or 1, k_len, batch or 1), here ({q_len} or 1, {k_len}, {batch} "
                f"or 1), not {tuple(mask.shape)}."
            )
        return mask.unsqueeze(-1)

    def forward(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Run attention: input_ and output `(q_len, batch, d_model)`, attn `(q_len, k_len, batch, heads)`."""
        query = self.query(input_).unflatten(-1, (self.n_heads, -1))
        key = self.key(memory).unflatten(-1, (self.n_heads, -1))
        value = self.value(memory).unflatten(-1, (self.n_heads, -1))
        query, key = self.scoring.transform(query, key, length_at=0)
        scores = self.get_scores(query, key) / math.sqrt(query.shape[-1])
        if self.scoring.bias is not None:
            scores = scores + self.scoring.bias.cells(*scores.shape[:2]).permute(1, 2, 0).unsqueeze(2)
        if mask is not None:
            allowed = self.prepare_mask(mask, len(input_), len(memory), input_.shape[1])
            scores = scores.masked_fill(~allowed, -math.inf)
        attn = scores.softmax(dim=1)  # dim 1 is the key dimension in this layout
        context = torch.einsum("ijbh,jbhd->ibhd", attn, value)
        return self.output(context.flatten(start_dim=2)), attn


class RelativeAttention(SequenceFirstAttention):
    """Attention with relative positions: a vector for each offset is added to the key (Shaw et al. 2018, equation 5).

    Only one method is overridden; projections, mask, softmax and output are unchanged. `table` is `(2 * reach + 1,
    heads, d_k)`, for offsets key - query from -reach to reach; larger ones count as reach.
    """

    def __init__(self, weights: SiteWeights, table: Tensor) -> None:
        super().__init__(weights)
        self.table = table

    def get_scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Compute query times (key + the offset's vector)."""
        reach = len(self.table) // 2
        places = torch.arange(len(key)) - torch.arange(len(query)).unsqueeze(1)
        offsets = self.table[places.clamp(-reach, reach) + reach]
        return super().get_scores(query, key) + torch.einsum("ibhd,ijhd->ijbh", query, offsets)


class SequenceFirst:
    """Adapter that gives a sequence-first module the batch-first interface of all implementations."""

    def __init__(self, module: SequenceFirstAttention) -> None:
        self.module = module

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        turned = None if mask is None else mask.permute(1, 2, 0)
        output, attn = self.module(input_.transpose(0, 1), memory.transpose(0, 1), turned)
        return output.transpose(0, 1), attn.permute(2, 3, 0, 1)
