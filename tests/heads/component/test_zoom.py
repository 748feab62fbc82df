"""Zooming into a map of the Heads component: by keys, by words in the legend, by a dragged box."""

import pytest
from playwright.sync_api import expect

from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER, point_at, press, view, zoom_window

pytestmark = NEEDS_A_BROWSER

ROWS, COLS = len(heads_app.TARGET), len(heads_app.SOURCE)


def test_plus_and_minus_zoom_and_zero_shows_the_whole_map(visit):
    page = visit()
    press(page, "+")
    top, bottom, left, right = zoom_window(page)
    assert 0 < bottom - top < ROWS
    assert 0 < right - left < COLS
    expect(page.locator(".legend")).to_contain_text(f"rows {top} to {bottom - 1}, keys {left} to {right - 1}")
    press(page, "=")
    assert zoom_window(page)[1] - zoom_window(page)[0] < bottom - top
    press(page, "-", "-", "-")
    assert zoom_window(page) == [0, ROWS, 0, COLS]
    press(page, "+", "+", "0")
    assert view(page)["zoom"] is None


def test_a_zoom_stops_at_a_few_cells(visit):
    page = visit()
    press(page, *"+" * 9)
    top, bottom, left, right = zoom_window(page)
    assert (bottom - top, right - left) == (3, 3)


def test_a_zoom_keeps_the_pinned_row_and_its_heaviest_key_in_sight(visit):
    page = visit("row=5")
    heaviest = int(heads_app.maps()["cross"].attn[1, 0, 5].argmax())
    press(page, "+", "+")
    top, bottom, left, right = zoom_window(page)
    assert top <= 5 < bottom
    assert left <= heaviest < right
    press(page, *"k" * 5)
    assert view(page)["row"] == 0
    assert zoom_window(page)[0] == 0


def test_shift_and_arrows_move_a_zoomed_map_sideways(visit):
    page = visit()
    press(page, "+", "+", *["Shift+ArrowLeft"] * 9)
    assert zoom_window(page)[2] == 0
    press(page, *["Shift+ArrowRight"] * 9)
    assert zoom_window(page)[3] == COLS
    assert view(page)["row"] is None


@pytest.mark.parametrize("key", ["1", "Escape"])
def test_another_kind_and_escape_leave_the_zoom(visit, key):
    page = visit()
    press(page, "+", key)
    assert view(page)["zoom"] is None


def test_a_dragged_box_is_zoomed_into(visit):
    page = visit()
    point_at(page, 1, 2)
    page.mouse.down()
    point_at(page, 3, 5)
    page.mouse.up()
    assert zoom_window(page) == [1, 4, 2, 6]


def test_the_keys_are_in_the_help(visit):
    page = visit()
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keys and words")
    for words in ("zoom in, zoom out", "the whole map", "move a zoomed map sideways"):
        expect(dialog).to_contain_text(words)
