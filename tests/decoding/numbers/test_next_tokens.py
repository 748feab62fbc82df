"""Candidates come in order of probability, the forbidden ones never, and a sampler's distribution beside them."""

import pytest
import torch

from attnviz.analysis.next_tokens import next_tokens
from attnviz.transformer.decoding import Sampling, Vocabulary


def test_the_likeliest_come_first_and_forbidden_ones_never() -> None:
    logits = torch.tensor([[5.0, 1.0, 3.0, 2.0]])
    (found,) = next_tokens(logits, Vocabulary(eos_id=1, suppressed_ids=(0,)), count=2)
    assert [token.id for token in found] == [2, 3]
    expected = torch.tensor([1.0, 3.0, 2.0]).softmax(dim=0)
    assert found[0].probability == found[0].drawn == pytest.approx(float(expected[1]))


def test_requested_ids_appear_once_among_the_next_tokens() -> None:
    (found,) = next_tokens(torch.tensor([[5.0, 1.0, 3.0]]), Vocabulary(2), count=1, with_ids=lambda step: (0, 1))
    assert [token.id for token in found] == [0, 1]


def test_what_a_sampler_cuts_is_drawn_with_zero() -> None:
    sampling = Sampling(torch.Generator(), temperature=0.5, top_k=2)
    (found,) = next_tokens(torch.tensor([[2.0, 1.0, 0.0]]), Vocabulary(2), count=3, sampling=sampling)
    assert [token.drawn > 0 for token in found] == [True, True, False]
    assert sum(token.drawn for token in found) == pytest.approx(1)
