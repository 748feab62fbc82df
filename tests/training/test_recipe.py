"""The learning rate by hand."""

import pytest

from attnviz.training.recipe import Recipe
from tests.each_case import each_case


@each_case(
    ("step", "share"),
    [(1, 0.1), (5, 0.5), (10, 1.0), (11, 1.0), (60, 1.0), (61, 1.0), (62, 39 / 40), (81, 20 / 40), (100, 1 / 40)],
)
def test_warm_up_plateau_and_decay(step, share):
    recipe = Recipe(steps=100, warmup=10, decay=0.4, learning_rate=2e-3)
    assert recipe.rate(step) == pytest.approx(2e-3 * share)


def test_a_longer_run_shares_warm_up_and_plateau():
    short, long = Recipe(steps=100, warmup=10, decay=0.4), Recipe(steps=200, warmup=10, decay=0.4)
    assert [short.rate(step) for step in range(1, 61)] == [long.rate(step) for step in range(1, 61)]


def test_no_warm_up_and_no_decay():
    recipe = Recipe(steps=3, warmup=0, decay=0.0, learning_rate=1.0)
    assert [recipe.rate(step) for step in (1, 2, 3)] == [1.0, 1.0, 1.0]


@each_case(
    "change",
    [
        {"workers": 0},
        {"steps": "x"},
        {"steps": 1.5},
        {"batch_tokens": 0},
        {"label_smoothing": 7},
        {"average": 2},
        {"learning_rate": float("nan")},
        {"languages": ["fr"]},
        {"more": {"table": -1}},
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused_by_name(change):
    (name,) = change
    with pytest.raises(ValueError, match=f"^{name} must "):
        Recipe(**change)
