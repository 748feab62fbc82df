"""PyTorch's own attention on the same weights: its module, and its fused function."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.implementations.weights import SiteWeights


class TorchModuleAttention:
    """`nn.MultiheadAttention`: `in_proj_weight` stacks the three input projections, and True in a mask means *hidden*.

    A query without a visible key gives NaN, because weights are returned. The module allows no step between projection
    and product, so queries and keys that a model normalises or rotates are projected beforehand, and the module
    projects them with the identity. A relative position bias is added through the mask. Raises ValueError for sizes
    that the module does not support: it needs `d_k = d_v = d_model / n_heads`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        if not weights.n_heads * weights.d_k == weights.n_heads * weights.d_v == weights.d_model:
            raise ValueError(
                f"nn.MultiheadAttention needs d_k = d_v = d_model / n_heads, not d_k={weights.d_k}, d_v={weights.d_v} "
                f"for d_model={weights.d_model} and {weights.n_heads} heads."
            )
        self.weights, same = weights, torch.eye(weights.d_model)
        zeros = torch.zeros(weights.d_model)
        self.is_transformed = weights.is_transformed
        q, k, v, _ = weights.pairs
        (W_q, b_q), (W_k, b_k) = ((same, zeros), (same, zeros)) if self.is_transformed else (q, k)  # noqa: N806
        self.module = nn.MultiheadAttention(weights.d_model, weights.n_heads, batch_first=True, device="meta")
        for owner, name, tensor in (
            (self.module, "in_proj_weight", torch.cat((W_q, W_k, v[0]))),
            (self.module, "in_proj_bias", torch.cat((b_q, b_k, v[1]))),
            (self.module.out_proj, "weight", weights.W_o),
            (self.module.out_proj, "bias", weights.b_o),
        ):
            setattr(owner, name, nn.Parameter(tensor, requires_grad=False))

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        hidden = None
        if mask is not None:  # one mask per batch item and head, in this order
            hidden = ~mask.expand(len(input_), input_.shape[1], memory.shape[1])
            hidden = hidden.repeat_interleave(self.module.num_heads, dim=0)
        query, key = self.project(input_, memory) if self.is_transformed else (input_, memory)
        if self.weights.scoring.bias is not None:
            hidden = self.bias_mask(hidden, (len(input_), input_.shape[1], memory.shape[1]))
        return self.module(query, key, memory, attn_mask=hidden, need_weights=True, average_attn_weights=False)

    def project(self, input_: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Compute queries and keys after norm and rotation, `(batch, length, d_model)`."""
        query, key = (
            F.linear(x, weight, bias).unflatten(-1, (self.weights.n_heads, -1)).transpose(1, 2)
            for x, (weight, bias) in zip((input_, memory), self.weights.pairs[:2], strict=True)
        )
        query, key = self.weights.scoring.transform(query, key)
        return query.transpose(1, 2).flatten(2), key.transpose(1, 2).flatten(2)

    def bias_mask(self, hidden: Tensor | None, sizes: tuple[int, int, int]) -> Tensor:
        """Return the bias for each item, head and cell, with -inf in hidden cells.

        `sizes` are batch, q_len and k_len.
        """
        assert self.weights.scoring.bias is not None  # the caller has checked it
        bias = self.weights.scoring.bias.cells(*sizes[1:]).repeat(sizes[0], 1, 1)
        return bias if hidden is None else bias.masked_fill(hidden, -math.inf)


class TorchFusedAttention:
    """`F.scaled_dot_product_attention` between four linear maps, the fastest way, which never stores the weights.

    A query without a visible key gets zeros.
    """

    def __init__(self, weights: SiteWeights) -> None:
        self.weights = weights

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, None]:
        """Compute output and weights, with shapes as in `Attention`."""
        weights = self.weights
        query, key, value = (
            F.linear(x, weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
            for x, (weight, bias) in zip((input_, memory, memory), weights.pairs[:3], strict=True)
        )
        query, key = weights.scoring.transform(query, key)
        mask = None if mask is None else mask.unsqueeze(1)
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=self.bias_mask(mask, query, key))
        return F.linear(context.transpose(1, 2).flatten(start_dim=2), weights.W_o, weights.b_o), None

    def bias_mask(self, mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor | None:
        """Return the mask, or, with a relative position bias, values to add to the scores, -inf in hidden cells."""
        if self.weights.scoring.bias is None:
            return mask
        bias = self.weights.scoring.bias.cells(query.shape[2], key.shape[2])
        return bias.unsqueeze(0) if mask is None else bias.masked_fill(~mask, -math.inf)
