"""Each mask against its definition, cell by cell, on lengths that differ."""

from collections.abc import Callable

import pytest
import torch

from attnviz.transformer import masks
from tests.each_case import each_case

Q, K = 5, 7

RULES: dict[str, tuple[Callable[..., torch.Tensor], dict, Callable[[int, int], bool]]] = {
    "full": (masks.full, {}, lambda i, j: True),
    "sliding_window": (masks.sliding_window, {"reach": 2}, lambda i, j: i - 2 <= j <= i + 2),
    "sliding_window of reach 0": (masks.sliding_window, {"reach": 0}, lambda i, j: i == j),
    "dilated": (masks.dilated, {"step": 3}, lambda i, j: abs(i - j) in (0, 3, 6)),
    "prefix": (masks.prefix, {"length": 3}, lambda i, j: j in (0, 1, 2) or j <= i),
    "prefix of nothing": (masks.prefix, {"length": 0}, lambda i, j: j <= i),
    "block_diagonal": (masks.block_diagonal, {"size": 2}, lambda i, j: {i, j} <= {2 * (i // 2), 2 * (i // 2) + 1}),
    "wait": (masks.wait, {"lead": 3}, lambda i, j: j <= i + 2),
}


@each_case("name", RULES)
def test_a_mask_is_its_definition(name: str) -> None:
    make, options, rule = RULES[name]
    expected = [[rule(i, j) for j in range(K)] for i in range(Q)]
    assert make(Q, K, **options)[0].tolist() == expected


@each_case("name", [name for name in RULES if name != "wait"])
def test_one_length_makes_a_square(name: str) -> None:
    make, options, _ = RULES[name]
    assert torch.equal(make(Q, **options), make(Q, Q, **options))


def test_combined_masks_see_what_all_of_them_see() -> None:
    window = masks.sliding_window(Q, reach=2) & masks.causal(Q)
    assert window[0].tolist() == [[i - 2 <= j <= i for j in range(Q)] for i in range(Q)]


def test_padding_broadcasts_over_rows_when_combined_with_causal() -> None:
    ids = torch.tensor([[4, 5, 6], [4, 5, 0]])
    both = masks.padding(ids, 0) & masks.causal(3)
    assert both.shape == (2, 3, 3)
    assert both[0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert both[1].tolist() == [[True, False, False], [True, True, False], [True, True, False]]


def test_random_keeps_its_rate_and_repeats_with_its_seed() -> None:
    drawn = masks.random(200, keep=0.3, seed=7)
    assert torch.equal(drawn, masks.random(200, keep=0.3, seed=7))
    assert not torch.equal(drawn, masks.random(200, keep=0.3, seed=8))
    share = drawn.double().mean().item()
    assert abs(share - 0.3) < 4 * (0.3 * 0.7 / drawn.numel()) ** 0.5


def test_random_rows_and_columns_do_not_follow_each_other() -> None:
    drawn = masks.random(120, keep=0.5, seed=1)[0].double() - 0.5
    agreement = (drawn[1:] * drawn[:-1]).mean().abs() * 4, (drawn[:, 1:] * drawn[:, :-1]).mean().abs() * 4
    assert max(agreement) < 4 / drawn[1:].numel() ** 0.5


def test_random_of_a_longer_text_keeps_the_cells_of_a_shorter() -> None:
    assert torch.equal(masks.random(9, 11, keep=0.5, seed=3)[:, :4, :5], masks.random(4, 5, keep=0.5, seed=3))


@pytest.mark.parametrize(("keep", "share"), [(0.0, 0.0), (1.0, 1.0)])
def test_random_at_the_ends_keeps_nothing_or_all(keep: float, share: float) -> None:
    assert masks.random(13, keep=keep, seed=0).double().mean() == share


@each_case(
    ("make", "options"),
    [
        (masks.sliding_window, {"reach": -1}),
        (masks.dilated, {"step": 0}),
        (masks.prefix, {"length": -1}),
        (masks.block_diagonal, {"size": 0}),
        (masks.wait, {"lead": 0}),
        (masks.random, {"keep": 1.5, "seed": 0}),
    ],
)
def test_an_impossible_number_is_named(make, options: dict) -> None:
    with pytest.raises(ValueError, match=r"must be at least|between 0 and 1"):
        make(3, 4, **options)
