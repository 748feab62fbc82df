"""Cells of maps, against NumPy."""

from itertools import pairwise

import numpy as np
import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

DRAWS = np.random.default_rng(11)


@pytest.fixture(scope="module")
def cells(module):
    return module("kit/js/cells.js")


def pool(data: np.ndarray, height: int, width: int) -> np.ndarray:
    """Of each block the value farthest from zero."""
    rows = [i * data.shape[0] // height for i in range(height + 1)]
    cols = [i * data.shape[1] // width for i in range(width + 1)]
    blocks = [[data[a:b, c:d].ravel() for c, d in pairwise(cols)] for a, b in pairwise(rows)]
    return np.array([[block[np.abs(block).argmax()] for block in row] for row in blocks])


@each_case(("shape", "size"), [((7, 5), (3, 2)), ((64, 64), (64, 10)), ((3, 100), (9, 33)), ((1, 1), (1, 1))])
def test_pooling_keeps_what_is_farthest_from_zero(cells, shape, size) -> None:
    data = np.float32(DRAWS.normal(size=shape))
    given = [data.ravel().tolist(), list(shape), list(size)]
    act = """({ pooledByMax }, [data, shape, size]) => {
      const { data: pooled, rows, cols } = pooledByMax(Float32Array.from(data), shape, size);
      return [[...pooled], rows, cols];
    }"""
    values, rows, cols = cells(act, given)
    expected = pool(data, min(size[0], shape[0]), min(size[1], shape[1]))
    assert (rows, cols) == expected.shape
    assert np.array_equal(np.float32(values).reshape(rows, cols), expected)


def test_a_mean_is_numpys_and_a_row_that_sees_nothing_does_not_count(cells) -> None:
    maps = np.float32(DRAWS.random((5, 6, 4)))
    maps[0, 2] = maps[3, 2] = maps[1, 5] = 0
    seeing = [5, 5, 3, 5, 5, 4]
    act = """({ meanOf }, [maps, seeing]) => [...meanOf(maps.map((map) => Float32Array.from(map)), seeing)]"""
    given = maps.reshape(5, -1).tolist()
    assert np.array_equal(np.float32(cells(act, [given, None])), maps.mean(0, dtype=float).astype("f4").ravel())
    expected = (maps.sum(0, dtype=float) / np.array(seeing)[:, None]).astype("f4")
    assert np.array_equal(np.float32(cells(act, [given, seeing])), expected.ravel())


def test_no_map_that_sees_a_row_leaves_zeros(cells) -> None:
    act = "({ meanOf }) => [...meanOf([new Float32Array(2), new Float32Array(2)], [0])]"
    assert cells(act) == [0, 0]


def test_a_mean_stands_for_all_layers_or_heads(cells) -> None:
    act = "({ sitesOf }, sites) => sites.map((site) => sitesOf({ layers: 2, heads: 3 }, ...site))"
    one, layers, every = cells(act, [[1, 2], ["mean", 0], ["mean", "mean"]])
    assert one == [[1, 2]]
    assert layers == [[0, 0], [1, 0]]
    assert every == [[layer, head] for layer in range(2) for head in range(3)]


@each_case("share", [0.0, 0.3, 0.7, 1.0])
def test_runs_cover_the_picked_cells_of_a_window_once(cells, share: float) -> None:
    picked = DRAWS.random((9, 12)) < share
    act = "({ runsOf }, picked) => runsOf((row, col) => picked[row][col], [2, 8], [1, 11])"
    covered = np.zeros((9, 12), int)
    runs = cells(act, picked.tolist())
    for row, start, stop in runs:
        covered[row, start:stop] += 1
        assert start == 1 or not picked[row, start - 1], "a run begins where the cell before it is none"
    inside = np.zeros_like(picked)
    inside[2:8, 1:11] = True
    assert np.array_equal(covered, (picked & inside).astype(int))


def test_an_index_is_a_whole_number_that_lies_within(cells) -> None:
    act = "({ isIndex }) => [0, 2, 3, -1, 1.5, '1', null, undefined, NaN, 'mean'].map((value) => isIndex(value, 3))"
    assert cells(act) == [True, True] + [False] * 8
