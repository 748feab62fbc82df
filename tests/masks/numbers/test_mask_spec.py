"""Masks put together from rules and paint."""

import torch

from attnviz.analysis.mask_spec import RULES, MaskSpec, fit_mask
from attnviz.transformer import masks


def test_no_rule_hides_nothing() -> None:
    assert MaskSpec().build(3, 5).all()
    assert MaskSpec().title == "none"


def test_rules_are_combined_with_and() -> None:
    recipe = MaskSpec({"causal": (), "window": (1,)})
    assert torch.equal(recipe.build(6, 6), masks.causal(6) & masks.sliding_window(6, reach=1))
    assert recipe.title == "causal & window (reach 1)"


def test_every_rule_makes_a_mask_of_the_lengths_asked_for() -> None:
    for rule in RULES.values():
        assert MaskSpec({rule.name: rule.defaults}).build(4, 6).shape == (1, 4, 6), rule.name


def test_every_rule_is_the_same_for_a_prefix() -> None:
    """A target that is still being written must find, for its first tokens, the mask of the whole."""
    for rule in RULES.values():
        recipe = MaskSpec({rule.name: rule.defaults})
        assert torch.equal(recipe.build(9, 11)[:, :4, :5], recipe.build(4, 5)), rule.name


def test_padding_hides_the_keys_that_are_not_real_in_each_item() -> None:
    real = torch.tensor([[True, True, True], [True, False, False]])
    mask = MaskSpec({"padding": ()}).build(2, 3, real=real)
    assert mask.tolist() == [[[True, True, True]] * 2, [[True, False, False]] * 2]


def test_padding_without_a_batch_hides_nothing() -> None:
    assert MaskSpec({"padding": ()}).build(2, 3).all()


def test_paint_hides_more_and_never_less() -> None:
    painted = torch.ones(3, 3, dtype=torch.bool)
    painted[2, 0] = False
    mask = MaskSpec({"causal": ()}, painted).build(3, 3)[0]
    assert mask.tolist() == [[True, False, False], [True, True, False], [False, True, True]]


def test_paint_for_another_length_is_cut_or_extended() -> None:
    painted = torch.tensor([[True, False], [False, True]])
    assert fit_mask(painted, 1, 1).tolist() == [[True]]
    assert fit_mask(painted, 3, 3).tolist() == [[True, False, True], [False, True, True], [True, True, True]]


def test_a_recipe_knows_whether_it_sees_ahead() -> None:
    assert not MaskSpec({"causal": ()}).sees_ahead(5)
    assert MaskSpec({"window": (1,)}).sees_ahead(5)
    assert not MaskSpec({"window": (0,)}).sees_ahead(5)
