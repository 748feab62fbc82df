"""Means over heads and layers."""

import torch

from attnviz.analysis.averages import mean_over_all, mean_over_heads, mean_over_layers
from attnviz.tracing.shown import shown
from tests.analysis.by_hand import tokens, trace_of

SRC = tokens("▁a", "▁b", "▁c", "▁d", "▁e")


def test_means_over_heads_layers_and_both() -> None:
    attn = torch.rand(2, 3, 5, 5).softmax(-1)
    maps = shown(trace_of("encoder_self", attn, src=SRC), "encoder_self")
    assert torch.allclose(mean_over_heads(maps), attn.mean(1), atol=1e-6)
    assert torch.allclose(mean_over_layers(maps), attn.mean(0), atol=1e-6)
    assert torch.allclose(mean_over_all(maps), attn.mean((0, 1)), atol=1e-6)
    assert torch.allclose(mean_over_all(maps), maps.weights("mean", "mean"))


def test_a_row_without_keys_in_one_head_is_left_out_so_that_rows_still_sum_to_one() -> None:
    mask = torch.ones(1, 3, 5, 5, dtype=torch.bool)
    mask[0, 1, 2] = False  # head 1 shows nothing to row 2
    mask[0, :, 4] = False  # no head shows anything to row 4
    maps = shown(trace_of("encoder_self", torch.full((1, 3, 5, 5), 0.2), src=SRC, mask=mask), "encoder_self")
    assert torch.allclose(mean_over_heads(maps)[0].sum(-1), torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0]))
