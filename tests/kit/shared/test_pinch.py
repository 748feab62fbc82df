"""Two fingers zoom: what lies between them stays between them, and nothing is drawn beyond the whole."""

import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER


@pytest.fixture(scope="module")
def pinch(module):
    touch = module("kit/js/touch/pinch.js")

    def call(window: tuple[int, int], **how: float) -> list[int]:
        return touch("({ pinched }, [window, how]) => pinched(window, how)", [window, how])

    return call


@each_case("at", [0, 0.25, 0.5, 1])
def test_the_row_between_the_fingers_stays_there(pinch, at: float) -> None:
    first, end = pinch((0, 40), **{"from": at}, to=at, factor=2, length=40)
    assert end - first == 20
    assert abs((0 + at * 40) - (first + at * 20)) <= 0.5


def test_fingers_that_move_together_move_the_window(pinch) -> None:
    assert pinch((10, 20), **{"from": 0.5}, to=0.2, factor=1, length=40) == [13, 23]


@pytest.mark.parametrize(("factor", "size"), [(1 / 50, 40), (50, 3), (1, 10)])
def test_a_window_is_never_larger_than_the_whole_nor_smaller_than_three(pinch, factor: float, size: int) -> None:
    first, end = pinch((30, 40), **{"from": 0.9}, to=-3, factor=factor, length=40)
    assert end - first == size
    assert 0 <= first < end <= 40


def test_two_rows_stay_two(pinch) -> None:
    assert pinch((0, 2), **{"from": 0.5}, to=0.5, factor=9, length=2) == [0, 2]
