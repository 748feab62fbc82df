"""A picture that is all on one screen, presented, and on one sheet, printed."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.screens.pages import press_p

LONG = "src=The+old+man+who+lived+in+the+small+house+gave+the+red+dog+some+bread+and+went+to+sleep.&to=fr"
# How far the picture, or what it is in, can be scrolled.
SCROLLED = """() => Math.max(...[".align-body", ".avz"].map((name) => {
  const node = document.querySelector("[data-presented]").shadowRoot.querySelector(name);
  return Math.max(node.scrollWidth - node.clientWidth, node.scrollHeight - node.clientHeight);
}))"""


def sheets(page: Page) -> list[tuple[float, float]]:
    """Measure width and height of each printed sheet, in the window's pixels."""
    found = re.findall(rb"/MediaBox \[0 0 (\S+) (\S+)\]", page.pdf(prefer_css_page_size=True))
    return [(float(width) * 96 / 72, float(height) * 96 / 72) for width, height in found]


def test_a_long_alignment_is_presented_whole_and_printed_as_it_stands(page: Page, settle) -> None:
    page.goto(f"/heads?{LONG}&tab=alignment")
    settle(page)
    expect(page.locator(".align-body")).to_be_visible()
    assert sheets(page) == [pytest.approx((1440, 1440 / 2**0.5), abs=1)], "as wide as the window"
    press_p(page)
    expect(page.locator("[data-presented] .align-body")).to_be_visible()
    expect(page.locator(".ways-box")).to_be_hidden()
    page.wait_for_function(f"() => ({SCROLLED})() <= 0")
