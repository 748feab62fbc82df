"""What tests of the Heads component do with its page: read the view, press keys, point at cells."""

import json

import pytest
from playwright.sync_api import Page

from tests.browser import chromium

NEEDS_A_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium.find() is None, reason="no browser found: `make test` gets one where it can"),
]


def view(page: Page) -> dict:
    return json.loads(page.locator(".avz").get_attribute("data-attnviz-view"))


def site(page: Page) -> tuple:
    return view(page)["layer"], view(page)["head"]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def point_at(page: Page, row: int, col: int, *, tile: int = 0) -> None:
    """Move the pointer to the middle of a cell of one of the maps that are drawn."""
    box = page.locator(".map-box").bounding_box()
    middle = page.locator(".avz").evaluate(
        """(root, [row, col, tile]) => { const { x, y, cell } = root.attnviz.tiles[tile].geometry;
        return [x + (col + 0.5) * cell.w, y + (row + 0.5) * cell.h]; }""",
        [row, col, tile],
    )
    page.mouse.move(box["x"] + middle[0], box["y"] + middle[1])


def tip_weight(page: Page) -> float:
    """Read the weight that the tip at the pointer says."""
    return float(page.locator(".map-box .tip-value").inner_text())


def zoom_window(page: Page) -> list[int]:
    """Read the first row, the row after the last, the first key, and the key after the last, as drawn."""
    zoom = page.locator(".avz").evaluate("(root) => root.attnviz.tiles[0].zoom")
    return [zoom["top"], zoom["bottom"], zoom["left"], zoom["right"]]
