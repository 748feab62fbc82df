"""Statements of a notebook about per-head attention, compared with torch."""

import math

import torch

from attnviz.anatomy.numbers.notebook import head_counts, joined_as_documented, per_head_shapes, xavier_spread
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.implementations.weights import SiteWeights

SITE = SiteWeights.random(3, 33, d_k=11, seed=6)


def cross(q_len: int, k_len: int) -> SiteInputs:
    return SiteInputs(SITE, torch.randn(2, q_len, 33), torch.randn(2, k_len, 33))


def test_only_the_weights_have_d_model_in_the_middle() -> None:
    lines = {line.name: line for line in per_head_shapes([cross(5, 7), cross(2, 13)])}
    assert lines["W_Q"].shapes == ((3, 33, 11), (3, 33, 11))
    assert lines["Q = x @ W_Q"].shapes == ((3, 5, 11), (3, 2, 11))
    assert lines["K = memory @ W_K"].shapes == ((3, 7, 11), (3, 13, 11))
    assert lines["weights"].shapes == ((3, 5, 7), (3, 2, 13))
    assert lines["W_Q"].documented == lines["W_Q"].axes
    assert lines["Q = x @ W_Q"].documented != lines["Q = x @ W_Q"].axes


def test_heads_joined_as_documented_raise_on_a_sentence_and_not_on_the_notebooks_own_test() -> None:
    shape, said = joined_as_documented(cross(5, 7))
    assert shape is None
    assert "invalid for input of size" in said
    assert joined_as_documented(cross(5, 7), length=33) == ((3 * 33, 11), "")


def test_pytorch_takes_the_numbers_of_heads_that_divide_d_model_and_no_others() -> None:
    counts = head_counts(30, 6)
    assert {count.heads for count in counts} >= {1, 6, 30, 60}
    assert any(count.of_d_model for count in counts if count.heads < 30), "one that does not divide is among them"
    for count in counts:
        assert bool(count.refusal) == bool(count.of_d_model)
    twice = next(count for count in counts if count.heads == 60)
    assert twice.by_d_model == 0, "the reverse would allow it"


def test_xavier_on_a_tensor_with_a_head_axis_is_too_small_by_what_its_rule_says() -> None:
    found = xavier_spread(SiteWeights.random(8, 256, d_k=32))
    assert math.isclose(found.each, math.sqrt(2 / (256 + 32)), rel_tol=0.02)
    assert math.isclose(found.whole, math.sqrt(2 / (256 * 32 + 8 * 32)), rel_tol=0.02)


def test_sizes_of_its_own_work_too() -> None:
    assert per_head_shapes([odd_sized_inputs()])[-1].shapes == ((3, 5, 13),)
