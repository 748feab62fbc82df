"""The untrained model's prefixes: rows that are there stay as they are, in PyTorch's model and in ours."""

import pytest
import torch

from attnviz.analysis.prefix_experiment import prefix_experiment


def test_only_the_newest_row_is_new_in_both_models() -> None:
    prefixes = prefix_experiment()
    assert [prefix.ids for prefix in prefixes] == [(4,), (4, 3), (4, 3, 2), (4, 3, 2, 1), (4, 3, 2, 1, 0)]
    for prefix in prefixes:
        expected = [True] * (len(prefix.ids) - 1) + [False]
        assert prefix.theirs_equal.tolist() == prefix.ours_equal.tolist() == expected


def test_ours_equals_pytorchs_with_the_same_weights() -> None:
    assert max(prefix.difference for prefix in prefix_experiment(seed=4)) < 1e-5


def test_without_a_mask_no_row_stays() -> None:
    last = prefix_experiment(causal=False)[-1]
    assert not last.theirs_equal.any()
    assert not last.ours_equal.any()


def test_the_seed_decides_and_nobody_elses_random_numbers_move() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    one, again, other = (prefix_experiment((0, 1), (4, 3), seed=seed)[-1].ours for seed in (5, 5, 6))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


@pytest.mark.parametrize(
    ("src", "tgt", "words"),
    [((), (1,), "source needs 1 to 12 ids, not 0"), ((1,), (3, 10), "ids 0 to 9; the target holds 10")],
)
def test_ids_that_there_are_not_are_refused(src: tuple, tgt: tuple, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        prefix_experiment(src, tgt)
