"""Means over heads and layers."""

import torch

from attnviz.maps.selection import select
from tests.analysis.heads.by_hand import tokens, trace_of

SRC = tokens("▁a", "▁b", "▁c", "▁d", "▁e")


def test_means_over_heads_layers_and_both() -> None:
    attn = torch.rand(2, 3, 5, 5).softmax(-1)
    maps = select(trace_of("encoder_self", attn, src=SRC), "encoder_self")
    assert torch.allclose(maps.weights(1, "mean"), attn[1].mean(0), atol=1e-6)
    assert torch.allclose(maps.weights("mean", 2), attn[:, 2].mean(0), atol=1e-6)
    assert torch.allclose(maps.weights("mean", "mean"), attn.mean((0, 1)), atol=1e-6)


def test_a_row_without_keys_in_one_head_is_left_out_so_that_rows_still_sum_to_one() -> None:
    mask = torch.ones(1, 3, 5, 5, dtype=torch.bool)
    mask[0, 1, 2] = False  # head 1 shows nothing to row 2
    mask[0, :, 4] = False  # no head shows anything to row 4
    maps = select(trace_of("encoder_self", torch.full((1, 3, 5, 5), 0.2), src=SRC, mask=mask), "encoder_self")
    assert torch.allclose(maps.weights(0, "mean").sum(-1), torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0]))
