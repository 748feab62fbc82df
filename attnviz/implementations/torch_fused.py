"""PyTorch's fused function: the fastest way, and the one that never makes the weights."""

import math

import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.weights import SiteWeights


class TorchFusedAttention:
    """`F.scaled_dot_product_attention` between four linear maps; a query without a visible key gives zeros."""

    def __init__(self, weights: SiteWeights) -> None:
        self.weights = weights

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, None]:
        """Output and weights, with the axes of `Attention`."""
        weights = self.weights
        query, key, value = (
            F.linear(x, weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
            for x, (weight, bias) in zip((input_, memory, memory), weights.pairs[:3], strict=True)
        )
        query, key = weights.scoring.turned(query, key)
        mask = None if mask is None else mask.unsqueeze(1)
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=self.added(mask, query, key))
        return F.linear(context.transpose(1, 2).flatten(start_dim=2), weights.W_o, weights.b_o), None

    def added(self, mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor | None:
        """The mask; with a bias by distance, numbers to add to the scores, -inf where the mask hides."""
        if self.weights.scoring.bias is None:
            return mask
        bias = self.weights.scoring.bias.cells(query.shape[2], key.shape[2])
        return bias.unsqueeze(0) if mask is None else bias.masked_fill(~mask, -math.inf)
