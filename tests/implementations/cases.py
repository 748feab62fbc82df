"""Inputs and masks for checks of an attention, and PyTorch's own answer to each."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.weights import SiteWeights

BATCH, HEADS, Q_LEN, K_LEN, D_K = 2, 3, 5, 7, 11
PADDED = 3  # keys at the end of the second item
WEIGHTS = SiteWeights.random(HEADS, HEADS * D_K, d_k=D_K, seed=1)  # nn.MultiheadAttention has no other d_model
UNEQUAL = SiteWeights.random(HEADS, 17, d_k=D_K, d_v=13, seed=2)  # no size is another's, nor a product of others


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    weights: SiteWeights
    input_: Tensor
    memory: Tensor
    mask: Tensor | None


def case(name: str, weights: SiteWeights, mask: Tensor | None, *, cross: bool = False) -> Case:
    generator = torch.Generator().manual_seed(len(name))
    input_ = torch.randn(BATCH, Q_LEN if cross else K_LEN, weights.d_model, generator=generator)
    memory = torch.randn(BATCH, K_LEN, weights.d_model, generator=generator) if cross else input_
    return Case(name, weights, input_, memory, mask)


def cases(weights: SiteWeights = WEIGHTS) -> list[Case]:
    causal = torch.ones(1, K_LEN, K_LEN, dtype=torch.bool).tril()
    padding = torch.ones(BATCH, 1, K_LEN, dtype=torch.bool)
    padding[1, :, -PADDED:] = False
    return [
        case("self, no mask", weights, None),
        case("self, causal", weights, causal),
        case("self, padding", weights, padding),
        case("self, causal and padding", weights, causal & padding),
        case("cross, no mask", weights, None, cross=True),
        case("cross, padding", weights, padding, cross=True),
    ]


def reference(case: Case) -> tuple[Tensor, Tensor]:
    """PyTorch's fused kernel on projections made here; the weights are its output for an identity as value."""
    weights, mask = case.weights, case.mask
    query, key, value = (
        F.linear(x, weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        for x, (weight, bias) in zip((case.input_, case.memory, case.memory), weights.pairs[:3], strict=True)
    )
    mask = None if mask is None else mask.unsqueeze(1)
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    one_hot = torch.eye(key.shape[2], dtype=key.dtype).expand(*key.shape[:3], -1)
    attn = F.scaled_dot_product_attention(query, key, one_hot, attn_mask=mask)
    return F.linear(context.transpose(1, 2).flatten(2), weights.W_o, weights.b_o), attn
