"""Masks of many shapes for one site: which are taken, which are refused in a sentence, what goes wrong unnoticed."""

from dataclasses import replace

import pytest
import torch

from attnviz.analysis.outcome import Raised
from attnviz.anatomy.implementations.numbers.mask_shapes import NAMES, mask_shapes
from attnviz.implementations.sequence_first import SequenceFirstAttention
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.implementations.weights import SiteWeights
from tests.each_case import each_case


def padded_case() -> SiteInputs:
    """Seven keys, of which the second sentence has four; batch 2, heads 3."""
    weights = SiteWeights.random(3, 33, d_k=11, seed=6)
    mask = torch.ones(2, 1, 7, dtype=torch.bool)
    mask[1, :, 4:] = False
    x = torch.randn(2, 7, 33)
    return SiteInputs(weights, x, x, mask)


def test_what_prepare_mask_takes_has_an_axis_for_the_heads() -> None:
    tries = mask_shapes(padded_case())
    assert set(tries) == set(NAMES)
    assert {name for name, one in tries.items() if not isinstance(one.prepared, Raised)} == {
        "full",
        "row",
        "sentence",
        "turned",
    }
    assert tries["row"].prepared == (1, 7, 2, 1)
    assert tries["full"].prepared == (7, 7, 2, 1)


@each_case("name", ["key", "two", "batch", "heads"])
def test_a_refusal_names_the_axes_and_both_shapes(name: str) -> None:
    one = mask_shapes(padded_case())[name]
    assert isinstance(one.prepared, Raised)
    assert "(q_len or 1, k_len, batch or 1)" in one.prepared.error
    assert "(7 or 1, 7, 2 or 1)" in one.prepared.error
    assert str(one.shape) in one.prepared.error


def test_a_mask_of_numbers_is_refused_with_what_to_write() -> None:
    one = mask_shapes(padded_case())["float"]
    assert isinstance(one.prepared, Raised)
    assert "not float32" in one.prepared.error
    assert "mask != 0" in one.prepared.error
    module = SequenceFirstAttention(padded_case().weights)
    with pytest.raises(ValueError, match="not int64"):
        module.prepare_mask(torch.ones(7, 7, 2, dtype=torch.long), 7, 7, 2)


def test_cells_are_counted_that_become_other_than_meant() -> None:
    tries = mask_shapes(padded_case())
    assert tries["full"].wrong_cells == tries["row"].wrong_cells == 0
    assert tries["sentence"].wrong_cells == 3 * 7 * 3, (
        "the second sentence's three padded keys, for 7 queries and 3 heads"
    )
    assert tries["key"].wrong_cells == 3 * 7 * 3, "one key for all hides nothing: its own padding is forgotten"
    assert tries["turned"].wrong_cells > 0, "queries are hidden in place of keys, and no size tells"


def test_where_lengths_differ_a_turned_mask_is_refused() -> None:
    inputs = padded_case()
    one = mask_shapes(replace(inputs, input_=torch.randn(2, 5, 33)))["turned"]
    assert isinstance(one.prepared, Raised)
    assert isinstance(one.reached, Raised)


def test_torchs_own_words_are_kept_where_it_raises() -> None:
    tries = mask_shapes(odd_sized_inputs())
    for name, words in {"batch": "RuntimeError: The size of tensor a", "float": "TypeError"}.items():
        reached = tries[name].reached
        assert isinstance(reached, Raised)
        assert reached.error.startswith(words)
