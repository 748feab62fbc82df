"""`torch.nn.MultiheadAttention` on the same weights."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.implementations.weights import SiteWeights


class TorchModuleAttention:
    """The three input projections lie one under another in `in_proj_weight`; True in its masks means *hidden*.

    A query without a visible key gives NaN here, since the weights are asked for. The module has no place between
    projection and product: queries and keys that a model normalises or rotates are projected before it, and its own
    projections of them are the identity. A bias by distance goes into its mask as numbers to add. Raises ValueError for
    sizes that the module cannot have: it needs `d_k = d_v = d_model / n_heads`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        if not weights.n_heads * weights.d_k == weights.n_heads * weights.d_v == weights.d_model:
            raise ValueError(
                f"nn.MultiheadAttention needs d_k = d_v = d_model / n_heads, not d_k={weights.d_k}, d_v={weights.d_v} "
                f"for d_model={weights.d_model} and {weights.n_heads} heads."
            )
        self.weights, same = weights, torch.eye(weights.d_model)
        zeros = torch.zeros(weights.d_model)
        self.is_turned = weights.is_turned
        q, k, v, _ = weights.pairs
        (W_q, b_q), (W_k, b_k) = ((same, zeros), (same, zeros)) if self.is_turned else (q, k)  # noqa: N806
        self.module = nn.MultiheadAttention(weights.d_model, weights.n_heads, batch_first=True, device="meta")
        for owner, name, tensor in (
            (self.module, "in_proj_weight", torch.cat((W_q, W_k, v[0]))),
            (self.module, "in_proj_bias", torch.cat((b_q, b_k, v[1]))),
            (self.module.out_proj, "weight", weights.W_o),
            (self.module.out_proj, "bias", weights.b_o),
        ):
            setattr(owner, name, nn.Parameter(tensor, requires_grad=False))

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Output and weights, with the axes of `Attention`."""
        hidden = None
        if mask is not None:  # one mask a batch item and head, in this order
            hidden = ~mask.expand(len(input_), input_.shape[1], memory.shape[1])
            hidden = hidden.repeat_interleave(self.module.num_heads, dim=0)
        query, key = self.turned(input_, memory) if self.is_turned else (input_, memory)
        if self.weights.scoring.bias is not None:
            hidden = self.added(hidden, (len(input_), input_.shape[1], memory.shape[1]))
        return self.module(query, key, memory, attn_mask=hidden, need_weights=True, average_attn_weights=False)

    def turned(self, input_: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys, `(batch, length, d_model)`, ready for the product."""
        query, key = (
            F.linear(x, weight, bias).unflatten(-1, (self.weights.n_heads, -1)).transpose(1, 2)
            for x, (weight, bias) in zip((input_, memory), self.weights.pairs[:2], strict=True)
        )
        query, key = self.weights.scoring.turned(query, key)
        return query.transpose(1, 2).flatten(2), key.transpose(1, 2).flatten(2)

    def added(self, hidden: Tensor | None, sizes: tuple[int, int, int]) -> Tensor:
        """The bias of each item, head and cell; -inf where `hidden`. `sizes` are batch, q_len and k_len."""
        assert self.weights.scoring.bias is not None  # asked before
        bias = self.weights.scoring.bias.cells(*sizes[1:]).repeat(sizes[0], 1, 1)
        return bias if hidden is None else bias.masked_fill(hidden, -math.inf)
