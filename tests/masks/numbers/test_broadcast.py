"""How a three-axis mask meets scores, and what torch says where it does not."""

import torch

from attnviz.masks.tabs.broadcast import attempts, axes
from attnviz.transformer import masks


def attempts_by_code(batch: int, heads: int, q_len: int, k_len: int) -> dict:
    mask = masks.wait(q_len, k_len, lead=1).expand(batch, q_len, k_len)
    return {one.code: one for one in attempts(mask, (batch, heads, q_len, k_len))}


def test_only_the_head_axis_fits_where_all_sizes_differ() -> None:
    ways = attempts_by_code(2, 3, 5, 7)
    right = ways.pop("scores.masked_fill(~mask.unsqueeze(1), fill)")
    assert right.shape == (2, 3, 5, 7)
    assert all(one.shape is None and "must match" in one.said for one in ways.values())


def test_a_batch_of_one_lets_the_wrong_axis_pass() -> None:
    assert attempts_by_code(1, 3, 5, 7)["scores.masked_fill(~mask.unsqueeze(0), fill)"].shape == (1, 3, 5, 7)


def test_sizes_that_fit_by_chance_are_told_from_the_right_mask() -> None:
    wrong = attempts_by_code(2, 5, 5, 5)["scores.masked_fill(~mask.unsqueeze(-1), fill)"]
    assert wrong.shape is not None
    assert "by chance" in wrong.said


def test_a_shape_is_written_as_in_python() -> None:
    assert axes(tuple(torch.zeros(2, 1, 7).shape)) == "(2, 1, 7)"
