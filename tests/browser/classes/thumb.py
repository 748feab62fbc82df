"""A thumb on a phone: where it comes down, how long it stays, and which cells of the map it has marked."""

import json

from playwright.sync_api import Locator, Page

from tests.browser.heads.tabs import CELL

_MARKS = "(root) => JSON.stringify(root.attnviz.payload.header.lesson.guess ?? root.attnviz.view.marks)"


def tap(phone: Page, x: float, y: float) -> None:
    """Tap as a finger does, which stays down a moment: an element that moves meanwhile is not hit."""
    client = phone.context.new_cdp_session(phone)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    phone.wait_for_timeout(120)
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def tap_on(phone: Page, found: Locator) -> None:
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    assert box is not None
    tap(phone, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def tap_cell(phone: Page, row: int, col: int) -> None:
    """Tap a cell of the large map."""
    root = phone.locator("[data-attnviz-painted]")
    root.locator(".map-box").scroll_into_view_if_needed()
    tap(phone, *root.evaluate(CELL, [row, col]))


def marked_cells(phone: Page) -> list[list[int]]:
    """Return the cells that are marked on the map."""
    return json.loads(phone.locator("[data-attnviz-painted]").evaluate(_MARKS))
