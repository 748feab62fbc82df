"""A term's bubble leads to where the term is tried, within the app: by pointer, by keyboard, and by finger."""

import re

from playwright.sync_api import Page, expect

SRC = "src=I+love+you.&to=fr"


def goes_and_comes_back(page: Page, follow, there: str) -> None:
    """Following the link changes the page without a load, and Back returns to it as it was."""
    page.evaluate("window.stayed = true")
    left = page.url
    follow()
    expect(page).to_have_url(re.compile(there))
    page.go_back()
    expect(page).to_have_url(left)
    assert page.evaluate("window.stayed")


def test_the_pointer_moves_into_the_bubble_and_presses_its_link(page: Page, settle) -> None:
    page.goto(f"/masks?{SRC}&tab=leak")
    settle(page)
    page.get_by_test_id("stWidgetLabel").get_by_text("To", exact=True).hover()
    link = page.locator(".definitions:popover-open").get_by_role("link", name="Try it on Heads")
    expect(link).to_be_visible()
    goes_and_comes_back(page, link.click, r"/heads\?")
    expect(page.get_by_label("Source sentence")).to_have_value("I love you.")


def test_the_key_that_the_bubble_names_follows_a_pictures_link(page: Page, settle) -> None:
    page.goto(f"/heads?{SRC}&tab=neuron")
    settle(page)
    expect(page.locator(".avz[data-attnviz-painted]")).to_be_visible()
    page.locator(".avz select[data-term], .avz [data-term] select").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".avz .definition:popover-open kbd")).to_have_text("Alt+Enter")
    goes_and_comes_back(page, lambda: page.keyboard.press("Alt+Enter"), r"/heads\?(?!.*tab=neuron)")
    settle(page)


def test_a_finger_taps_the_link(new_tab, settle) -> None:
    page = new_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(f"/?{SRC}")
    settle(page)
    page.locator("[data-term='attention map']:visible").first.tap()
    link = page.locator(".definitions:popover-open").get_by_role("link", name="Try it on Heads")
    box = link.bounding_box()
    assert box is not None
    assert box["height"] >= 39.5
    goes_and_comes_back(page, link.tap, r"/heads\?")
