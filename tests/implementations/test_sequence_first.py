"""Sequence first: its native layout, its mask, and relative positions as the override of one method."""

import math

import pytest
import torch

from attnviz.implementations.sequence_first import RelativeAttention, SequenceFirst, SequenceFirstAttention
from tests.each_case import each_case
from tests.implementations.cases import BATCH, D_K, HEADS, K_LEN, Q_LEN, WEIGHTS, Case, reference

REACH = 2
TABLE = torch.randn(2 * REACH + 1, HEADS, D_K, generator=torch.Generator().manual_seed(3))


def test_axes_are_sequence_first() -> None:
    module = SequenceFirstAttention(WEIGHTS)
    output, attn = module(torch.zeros(Q_LEN, BATCH, HEADS * D_K), torch.zeros(K_LEN, BATCH, HEADS * D_K))
    assert output.shape == (Q_LEN, BATCH, HEADS * D_K)
    assert attn.shape == (Q_LEN, K_LEN, BATCH, HEADS)
    torch.testing.assert_close(attn.sum(dim=1), torch.ones(Q_LEN, BATCH, HEADS))


@pytest.mark.parametrize("shape", [(Q_LEN, K_LEN, BATCH), (1, K_LEN, BATCH), (Q_LEN, K_LEN, 1)])
def test_masks_that_broadcast_are_prepared(shape: tuple[int, ...]) -> None:
    mask = SequenceFirstAttention(WEIGHTS).prepare_mask(torch.ones(shape, dtype=torch.bool), Q_LEN, K_LEN, BATCH)
    assert mask.shape == (*shape, 1)


@each_case("shape", [(BATCH, Q_LEN, K_LEN), (K_LEN, Q_LEN, BATCH), (Q_LEN, K_LEN), (Q_LEN, 1, BATCH)])
def test_other_masks_are_refused_with_both_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=rf"{Q_LEN} or 1.*{K_LEN}.*{BATCH}") as refused:
        SequenceFirstAttention(WEIGHTS).prepare_mask(torch.ones(shape, dtype=torch.bool), Q_LEN, K_LEN, BATCH)
    assert str(shape) in str(refused.value)


def relative_by_formula(case: Case) -> torch.Tensor:
    """softmax over j of q_i · (k_j + a_(j - i)) / √d_k, one number at a time (Shaw et al. 2018, equation 5)."""
    weights = case.weights
    q_len, k_len = case.input_.shape[1], case.memory.shape[1]
    attn = torch.zeros(BATCH, HEADS, q_len, k_len)
    for batch in range(BATCH):
        for head in range(HEADS):
            rows = weights.rows(head, weights.d_k)
            query = case.input_[batch] @ weights.W_q[rows].T + weights.b_q[rows]
            key = case.memory[batch] @ weights.W_k[rows].T + weights.b_k[rows]
            for i in range(q_len):
                for j in range(k_len):
                    offset = max(-REACH, min(REACH, j - i))
                    score = query[i] @ (key[j] + TABLE[offset + REACH, head]) / math.sqrt(weights.d_k)
                    seen = case.mask is None or bool(case.mask.expand(BATCH, q_len, k_len)[batch, i, j])
                    attn[batch, head, i, j] = score if seen else -math.inf
    return attn.softmax(dim=-1)


def test_relative_positions_equal_the_formula(case: Case) -> None:
    _, attn = SequenceFirst(RelativeAttention(case.weights, TABLE))(case.input_, case.memory, case.mask)
    torch.testing.assert_close(attn, relative_by_formula(case), rtol=0, atol=1e-5)


def test_an_empty_table_changes_nothing(case: Case) -> None:
    output, attn = SequenceFirst(RelativeAttention(case.weights, torch.zeros_like(TABLE)))(
        case.input_, case.memory, case.mask
    )
    expected_output, expected_attn = reference(case)
    torch.testing.assert_close(output, expected_output, rtol=0, atol=1e-5)
    torch.testing.assert_close(attn, expected_attn, rtol=0, atol=1e-5)
