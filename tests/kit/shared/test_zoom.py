"""Windows of rows or columns stay within the whole, and keep what they are zoomed at."""

import itertools

import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

LENGTHS = (1, 2, 3, 4, 7, 40, 1000)


@pytest.fixture(scope="module")
def zoom(module):
    return module("kit/js/zoom.js")


def windows() -> list[tuple[int, int, int]]:
    """(first, after the last, length)."""
    sizes = ((length, size) for length in LENGTHS for size in {1, length // 2 or 1, max(1, length - 1), length})
    return [
        (start, start + size, length) for length, size in sizes for start in {0, (length - size) // 2, length - size}
    ]


@each_case("factor", [1.1, 1.6, 8, 1 / 1.1, 1 / 1.6, 1 / 50])
def test_a_zoomed_window_is_smaller_or_larger_and_lies_within(zoom, factor: float) -> None:
    cases = [
        (first, end, at, length)
        for (first, end, length), part in itertools.product(windows(), (0, 0.5, 1))
        for at in [first + part * (end - 1 - first)]
    ]
    act = """({ scaled }, [cases, factor]) =>
      cases.map(([from, to, at, length]) => scaled([from, to], { factor, at, length }))"""
    for (first, end, at, length), (start, stop) in zip(cases, zoom(act, [cases, factor]), strict=True):
        size, before = stop - start, end - first
        assert 0 <= start < stop <= length
        assert size >= min(3, length)
        assert start - 1 <= at <= stop, "what is zoomed at stays in sight"
        if factor > 1:
            assert size < before or before <= min(3, length)
        else:
            assert size > before or before == length


def test_zooming_in_and_out_again_ends_at_the_whole(zoom) -> None:
    act = """({ scaled, ZOOM_STEP }) => {
      let window = [0, 100];
      const by = (factor) => (window = scaled(window, { factor, at: 50, length: 100 }));
      for (let i = 0; i < 20; i++) by(ZOOM_STEP);
      const least = window;
      for (let i = 0; i < 20; i++) by(1 / ZOOM_STEP);
      return [least, window];
    }"""
    assert zoom(act) == [[49, 52], [0, 100]]


def test_a_window_is_moved_into_the_whole(zoom) -> None:
    act = "({ startingAt }) => [startingAt(-5, 4, 10), startingAt(3, 4, 10), startingAt(9, 4, 10)]"
    assert zoom(act) == [[0, 4], [3, 7], [6, 10]]
