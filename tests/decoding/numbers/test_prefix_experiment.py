"""The untrained model's prefixes: rows that are there stay as they are, in PyTorch's model and in ours."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from attnviz.decoding.numbers.prefix_experiment import _seeded_modules, prefix_experiment
from tests.each_case import each_case


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


def test_two_visitors_with_one_seed_see_one_experiment() -> None:
    expected = prefix_experiment((0, 1), (4, 3), seed=3)[-1].ours
    with ThreadPoolExecutor(4) as threads:
        seen = list(threads.map(lambda seed: prefix_experiment((0, 1), (4, 3), seed=seed)[-1].ours, [3] * 12))
    assert all(torch.equal(one, expected) for one in seen)


@each_case(
    ("rule", "part"),
    [
        ("xavier", "encoder.layers.0.self_attn.in_proj_weight"),
        ("xavier", "decoder.layers.5.linear1.weight"),
        ("linear", "encoder.layers.2.linear2.bias"),
        ("zeros", "decoder.layers.1.multihead_attn.out_proj.bias"),
        ("zeros", "encoder.norm.bias"),
        ("ones", "decoder.norm.weight"),
    ],
)
def test_the_modules_begin_as_pytorch_begins_them(rule, part) -> None:
    ours, theirs = (
        model.get_parameter(part).detach()
        for model in (_seeded_modules(0)[1], nn.Transformer(d_model=8, batch_first=True))
    )
    assert ours.shape == theirs.shape
    if rule in ("zeros", "ones"):
        assert torch.equal(ours, theirs)
        return
    bound = (6 / sum(ours.shape)) ** 0.5 if rule == "xavier" else 2048**-0.5
    assert max(ours.abs().max(), theirs.abs().max()) <= bound
    assert float(ours.std()) == pytest.approx(bound / 3**0.5, rel=0.5)


@pytest.mark.parametrize(
    ("src", "tgt", "words"),
    [((), (1,), "source needs 1 to 12 ids, not 0"), ((1,), (3, 10), "ids 0 to 9; the target holds 10")],
)
def test_ids_that_there_are_not_are_refused(src: tuple, tgt: tuple, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        prefix_experiment(src, tgt)
