"""Covered numbers are in no form of the maps."""

import pytest
import torch

from attnviz.maps.cover import Cover, CoveredMaps
from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator


@pytest.fixture(scope="module")
def trace():
    return tiny_translator().trace("I love you", to="fr")


@pytest.fixture(scope="module")
def maps(trace) -> EagerMaps:
    return select(trace, "cross")


def test_a_covered_head_is_zero_as_weights_as_all_heads_and_in_small(maps: EagerMaps) -> None:
    found = CoveredMaps.cover_rows(maps, Cover("cross", ((1, 0),)))
    assert not found.weights(1, 0).any()
    assert not found.all_heads()[1, 0].any()
    assert not found.thumbnails(64)[1, 0].any()


def test_other_heads_are_as_they_were(maps: EagerMaps) -> None:
    found = CoveredMaps.cover_rows(maps, Cover("cross", ((1, 0),)))
    torch.testing.assert_close(found.weights(0, 0), maps.weights(0, 0))
    torch.testing.assert_close(found.all_heads()[0], maps.all_heads()[0])


@pytest.mark.parametrize("site", [("mean", 0), (1, "mean"), ("mean", "mean")])
def test_a_mean_that_a_covered_head_is_part_of_is_covered(maps: EagerMaps, site) -> None:
    found = CoveredMaps.cover_rows(maps, Cover("cross", ((1, 0),)))
    assert not found.weights(*site).any()


def test_a_covered_row_leaves_the_others(maps: EagerMaps) -> None:
    found = CoveredMaps.cover_rows(maps, Cover("cross", ((0, 0),), frozenset({2}))).weights(0, 0)
    assert not found[2].any()
    torch.testing.assert_close(found[:2], maps.weights(0, 0)[:2])


def test_a_row_is_covered_where_its_tokens_were_merged_into_a_word(trace) -> None:
    words = select(trace, "cross", MapOptions(words=True))
    token = next(row.tokens for row in words.rows if len(row.tokens) > 1)[-1]
    found = CoveredMaps.cover_rows(words, Cover("cross", None, frozenset({token})))
    (row,) = [at for at, label in enumerate(words.rows) if token in label.tokens]
    assert not found.all_heads()[:, :, row].any()


def test_what_lies_under_the_cover_is_not_changed(maps: EagerMaps) -> None:
    before = maps.attn.clone()
    CoveredMaps.cover_rows(maps, Cover("cross")).all_heads()
    assert torch.equal(maps.attn, before)
