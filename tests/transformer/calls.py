"""Calls of attention with a different prime for each axis, under every kind of mask."""

import math

import pytest
import torch

from attnviz.transformer import masks
from attnviz.transformer.probe import AttentionCall, Site

BATCH, HEADS, Q_LEN, K_LEN, D_K, D_V = 2, 3, 5, 7, 11, 13
SITE = Site("cross", 0)
CLOSE = {"rtol": 0.0, "atol": 1e-5}
MASKS = pytest.mark.parametrize("mask_name", ["none", "padding", "causal", "both"])


def padding() -> torch.Tensor:
    return masks.padding(torch.tensor([[4, 4, 4, 4, 4, 4, 4], [4, 4, 4, 0, 0, 0, 0]]), pad_id=0)


def mask_of(name: str) -> torch.Tensor | None:
    """Four-axis masks: True = may attend."""
    causal = masks.causal(Q_LEN, K_LEN)
    named = {"none": None, "padding": padding(), "causal": causal, "both": padding() & causal}
    return masks.add_head_axis(named[name])


def call_of(mask: torch.Tensor | None = None, bias: torch.Tensor | None = None) -> AttentionCall:
    generator = torch.Generator().manual_seed(3)
    query = torch.randn(BATCH, HEADS, Q_LEN, D_K, generator=generator)
    key = torch.randn(BATCH, HEADS, K_LEN, D_K, generator=generator)
    value = torch.randn(BATCH, HEADS, K_LEN, D_V, generator=generator)
    return AttentionCall(query, key, value, scale=1 / math.sqrt(D_K), mask=mask, bias=bias)
