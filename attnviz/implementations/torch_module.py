"""`torch.nn.MultiheadAttention` on the same weights."""

import torch
from torch import Tensor, nn

from attnviz.implementations.weights import SiteWeights


class TorchModuleAttention:
    """The three input projections lie one under another in `in_proj_weight`; True in its masks means *hidden*.

    A query without a visible key gives NaN here, since the weights are asked for. Raises ValueError for sizes that the
    module cannot have: it needs `d_k = d_v = d_model / n_heads`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        if not weights.n_heads * weights.d_k == weights.n_heads * weights.d_v == weights.d_model:
            raise ValueError(
                f"nn.MultiheadAttention needs d_k = d_v = d_model / n_heads, not d_k={weights.d_k}, d_v={weights.d_v} "
                f"for d_model={weights.d_model} and {weights.n_heads} heads."
            )
        self.module = nn.MultiheadAttention(weights.d_model, weights.n_heads, batch_first=True, device="meta")
        for owner, name, tensor in (
            (self.module, "in_proj_weight", torch.cat((weights.W_q, weights.W_k, weights.W_v))),
            (self.module, "in_proj_bias", torch.cat((weights.b_q, weights.b_k, weights.b_v))),
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
        return self.module(input_, memory, memory, attn_mask=hidden, need_weights=True, average_attn_weights=False)
