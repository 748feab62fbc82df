"""Colours of the visitor's own, as Windows' contrast themes force them: what is chosen is still seen to be."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.screens.pages import SRC


@pytest.fixture
def forced_colors_page(new_tab) -> Page:
    return new_tab(forced_colors="active")


def look(part: Locator) -> tuple[str, str]:
    """Read an element's background, and the style of its outline."""
    return part.evaluate("node => [getComputedStyle(node).backgroundColor, getComputedStyle(node).outlineStyle]")


def test_what_is_chosen_has_another_ground_where_colours_are_forced(
    forced_colors_page: Page, settle: Callable[[Page], None]
) -> None:
    forced_colors_page.goto(f"/heads?{SRC}&kind=cross&layer=1&head=3")
    settle(forced_colors_page)
    cell = forced_colors_page.locator(".cell[aria-selected='true']").first
    expect(cell).to_be_visible()
    tabs = forced_colors_page.get_by_test_id("stButtonGroup").first.get_by_role("radio")
    chosen, other = look(tabs.nth(0)), look(tabs.nth(1))
    kinds = forced_colors_page.locator(".avz .tabs").first
    assert chosen[0] != other[0]
    assert look(kinds.locator("button[aria-selected='true']"))[0] == chosen[0]
    assert look(kinds.locator("button:not([aria-selected='true'])").first)[0] != chosen[0]
    assert look(cell)[1] == "solid"
    assert look(forced_colors_page.locator(".cell:not([aria-selected='true'])").first)[1] == "none"


def test_a_switch_has_a_border_and_says_when_it_is_on_where_colours_are_forced(
    forced_colors_page: Page, settle: Callable[[Page], None]
) -> None:
    forced_colors_page.goto(f"/decoding?{SRC}&dropout=1")
    settle(forced_colors_page)
    tracks = forced_colors_page.get_by_test_id("stCheckbox").locator("label > span:first-child + *")
    ground, _ = look(tracks.nth(1))
    for track in (tracks.nth(0), tracks.nth(1)):
        expect(track).to_have_css("outline-style", "solid")
    expect(tracks.nth(0)).not_to_have_css("background-color", ground)  # once it has moved over
