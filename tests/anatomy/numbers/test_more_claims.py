"""Further claims of the texts: the view that joins heads, what softmax passes back, additive scores, changed lines."""

import math

import pytest
import torch

from attnviz.analysis.inputs import query_key_value
from attnviz.anatomy.numbers import claims
from attnviz.anatomy.numbers.claims import additive_scores, dot_product, modulation, score_costs
from attnviz.anatomy.numbers.skipped_lines import SKIPS, tensor_before_line
from attnviz.implementations.site_inputs import odd_sized_inputs
from tests.each_case import each_case


def test_transpose_contiguous_view_is_concatenation() -> None:
    assert claims.concatenation_change(odd_sized_inputs()) == 0


def test_the_norm_of_softmaxs_jacobian_is_autograds() -> None:
    scores = torch.randn(5, 7)
    found = claims.jacobian_norm(scores.softmax(dim=-1))
    for row, norm in zip(scores, found, strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda x: x.softmax(dim=-1), row)
        torch.testing.assert_close(jacobian.norm(), norm)


def test_without_the_scale_softmax_passes_back_less() -> None:
    found = claims.scaling_of_normal(64, length=32)
    assert found.passed_unscaled.mean() < 0.75 * found.passed_scaled.mean()


def test_additive_scores_by_a_double_loop() -> None:
    query, key, v = torch.randn(3, 5, 11), torch.randn(3, 7, 11), torch.randn(11)
    found = additive_scores(query, key, v)
    assert found.shape == dot_product(query, key).shape == (3, 5, 7)
    by_hand = sum(math.tanh(float(query[1, 2, d] + key[1, 4, d])) * float(v[d]) for d in range(11))
    assert float(found[1, 2, 4]) == pytest.approx(by_hand, abs=1e-5)


def test_additive_scores_take_d_k_times_the_memory() -> None:
    costs = score_costs(3, 11, 13, repeats=1)
    assert costs["dot product"].nbytes == 3 * 13 * 13 * 4
    assert costs["additive"].nbytes >= 11 * costs["dot product"].nbytes
    with pytest.raises(ValueError, match="at least 1"):
        score_costs(3, 11, 0)


def test_without_softmax_a_row_would_not_sum_to_one() -> None:
    inputs = odd_sized_inputs()
    found = modulation(inputs.weights, inputs.input_[0], 2)
    query, key, _ = query_key_value(inputs)
    torch.testing.assert_close(found.linear_sums, (query @ key.mT / math.sqrt(11))[0, 2].sum(dim=-1))


@each_case("name", SKIPS)
def test_a_changed_line_says_what_it_was_given(name: str) -> None:
    found = tensor_before_line(name, odd_sized_inputs())
    assert found.tensors
    assert next(iter(found.tensors.values())).shape[0] == 2, "the batch stands in front"
    if "mask" in found.tensors:
        assert found.tensors["mask"].shape == (2, 5, 5), "before any axis is put in"


def test_a_line_that_raises_itself_made_nothing() -> None:
    assert tensor_before_line("contiguous", odd_sized_inputs()).made is None
    assert not tensor_before_line("contiguous", odd_sized_inputs()).tensors["context"].transpose(1, 2).is_contiguous()
    assert tensor_before_line("transpose", odd_sized_inputs()).made is not None, "a later line raises"
    with pytest.raises(ValueError, match="line to skip"):
        tensor_before_line("all", odd_sized_inputs())
