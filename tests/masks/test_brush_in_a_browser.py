"""The picture Hide patches in a browser: strokes, clicks and keys hide patches and show them again."""

import json

import numpy as np
import pytest
from playwright.sync_api import Page

import attnviz
from attnviz.kit.bundle import source
from attnviz.masks.brush.example import example_run
from attnviz.masks.masks import painting_of_text
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.bare_page import BarePage

pytestmark = NEEDS_A_BROWSER


@pytest.fixture
def bare(empty_page: Page) -> BarePage:
    shown = attnviz.picture("hidden_patches").of(*example_run(), layer=1, head=2, at=6)
    made = BarePage(empty_page, source(shown.picture.drawn_by), shown.payload())
    made.attach()
    return made


def view(bare: BarePage) -> dict:
    return json.loads(bare.root.get_attribute("data-attnviz-view"))


def hidden(bare: BarePage) -> list[tuple[int, int]]:
    painted = painting_of_text(view(bare)["hidden"])
    return [] if painted is None else [(int(row), int(column)) for row, column in np.argwhere(~painted)]


def middle(bare: BarePage, row: int, column: int) -> tuple[float, float]:
    """Return the middle of a patch: the image is 4 pixels from the left, below a line and the special token."""
    box = bare.root.locator("canvas").bounding_box()
    assert box is not None
    side = 0.34 * box["width"] / 4
    return box["x"] + 4 + (column + 0.5) * side, box["y"] + 26 + 36 + (row + 0.5) * side


def stroke(bare: BarePage, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Draw from one patch to another, faster than patch by patch."""
    bare.page.mouse.move(*middle(bare, *start))
    bare.page.mouse.down()
    bare.page.mouse.move(*middle(bare, *end), steps=2)
    bare.page.mouse.up()


def test_strokes_and_clicks_hide_patches_and_show_them_again(bare: BarePage) -> None:
    bare.page.mouse.click(*middle(bare, 0, 0))
    assert hidden(bare) == [(0, 0)]
    stroke(bare, (1, 0), (1, 3))
    assert hidden(bare) == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]
    bare.page.mouse.click(*middle(bare, 0, 0))
    assert hidden(bare) == [(1, 0), (1, 1), (1, 2), (1, 3)]
    stroke(bare, (1, 1), (1, 3))  # it begins on a hidden patch
    assert hidden(bare) == [(1, 0)]
    assert "The model runs with these hidden patches" in bare.root.locator(".words").inner_text()


def test_keys_hide_patches_and_show_them_again(bare: BarePage) -> None:
    bare.root.locator(".drawing").focus()
    assert view(bare)["at"] == 6  # row 1, column 1
    for key, expected, at in (
        ("Space", [(1, 1)], 6), ("Shift+ArrowDown", [(1, 1), (2, 1)], 10), ("ArrowRight", [(1, 1), (2, 1)], 11),
        ("Space", [(1, 1), (2, 1), (2, 2)], 11), ("Space", [(1, 1), (2, 1)], 11),
    ):  # fmt: skip
        bare.page.keyboard.press(key)
        assert (hidden(bare), view(bare)["at"]) == (expected, at), key
    bare.page.keyboard.press("i")
    assert len(hidden(bare)) == 14
    bare.page.keyboard.press("Escape")
    assert view(bare)["hidden"] == ""
    assert "No patch is hidden." in bare.root.locator(".words").inner_text()
