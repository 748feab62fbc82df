"""The Masks page's words under the pointer, a finger and the keyboard; its tooltip, its files, and a phone's order."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from attnviz.kit.glossary import definition
from tests.browser.masks.mask_lab import LINK, lab, middle, open_masks


def bubble(page: Page) -> Locator:
    return page.locator(".definition:popover-open")


def says(page: Page, word: str) -> None:
    """Expect the bubble of the page, or of the widget, which names the word first."""
    expect(bubble(page).locator("p")).to_contain_text(definition(word))


def scroll_under_the_bubble(page: Page) -> None:
    """Scroll as the browser does when the focused element is out of view."""
    before = bubble(page).bounding_box()
    page.get_by_test_id("stMain").evaluate("main => main.scrollBy(0, 24)")
    page.wait_for_function(
        "(before) => document.querySelector('.definitions')?.getBoundingClientRect().y !== before", arg=before["y"]
    )


def lies_below(page: Page, node: Locator) -> None:
    box, below = node.bounding_box(), bubble(page).bounding_box()
    assert below["y"] == pytest.approx(box["y"] + box["height"] + 6, abs=1)


def test_keyboard_and_pointer_are_told_what_rules_tabs_fills_and_tools_mean(page: Page, settle) -> None:
    open_masks(page, settle)
    the_keyboard_is_told_and_esc_ends_it(page)
    the_list_of_keys_gives_way_to_the_menu_that_it_lies_over(page)
    page.keyboard.press("Escape")
    page.mouse.move(5, 500)
    expect(bubble(page)).to_have_count(0)
    for word in ("wait-k", "padding"):
        page.get_by_test_id("stButtonGroup").get_by_text(word, exact=True).hover()
        says(page, word)
    page.get_by_test_id("stButtonGroup").get_by_text("Leak test", exact=True).hover()
    says(page, "Leak test")
    lab(page).get_by_role("button", name="To paint").hover()
    says(page, "To paint")
    lab(page).locator("[data-term='Masked scores']").hover()
    says(page, "Masked scores")
    page.mouse.move(5, 500)
    expect(bubble(page)).to_have_count(0)
    page.get_by_role("button", name="A row without keys").hover()
    says(page, "A row without keys")
    page.locator(".st-key-pick-fill input").click()
    page.get_by_role("option", name="finfo.min").hover()
    says(page, "finfo.min")


def the_keyboard_is_told_and_esc_ends_it(page: Page) -> None:
    page.locator(".st-key-pick-masks button", has_text="causal").focus()
    page.keyboard.press("ArrowRight")
    says(page, "padding")
    page.keyboard.press("Escape")
    expect(bubble(page)).to_have_count(0)
    lab(page).get_by_role("button", name="Clear paint").focus()
    page.keyboard.press("Tab")
    says(page, "Invert")
    page.keyboard.press("Tab")
    says(page, "To paint")


def the_list_of_keys_gives_way_to_the_menu_that_it_lies_over(page: Page) -> None:
    keys = lab(page).get_by_role("dialog", name="Keys")
    toggle = lab(page).get_by_role("button", name="? keys")
    for is_open in (True, False, True):
        toggle.click()
        expect(keys).to_be_visible(visible=is_open)
    keys.click()
    expect(keys).to_be_visible()
    lab(page).locator("summary").click()
    lab(page).get_by_role("menuitem").last.click(trial=True)
    expect(keys).to_be_hidden()


def test_on_a_phone_the_picture_stands_before_its_controls_and_a_finger_is_told_the_same(new_tab, settle) -> None:
    page = new_tab(color_scheme="dark", viewport={"width": 390, "height": 844}, has_touch=True)
    open_masks(page, settle)
    picture = place(lab(page))
    assert picture["y"] + picture["height"] < place(page.locator(".st-key-pick-kind"))["y"]
    layer, head = (place(page.locator(f".st-key-pick-{name}")) for name in ("layer", "head"))
    assert layer["y"] == pytest.approx(head["y"], abs=2), "layer and head beside each other"
    lab(page).locator("[data-term='Weights']").tap()
    says(page, "Weights")
    box = place(bubble(page))
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def place(node: Locator) -> FloatRect:
    box = node.bounding_box()
    assert box is not None
    return box


def test_the_tooltip_has_the_numbers_of_the_map_that_is_drawn(page: Page, settle) -> None:
    """A cell is painted by keyboard while the pointer rests on it; then another sentence of the same length comes."""
    open_masks(page, settle, LINK + "&masks=none")
    tip = lab(page).locator(".tip")
    lab(page).locator("canvas").focus()
    x, y = middle(page, 1, 0, "attn")
    page.mouse.move(x, y)
    expect(tip).to_contain_text("may attend")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(tip).to_be_hidden()
    page.mouse.move(x + 1, y)
    expect(tip).to_contain_text("weight 0")
    expect(tip).to_contain_text("hidden by paint")
    page.keyboard.press("x")
    expect(tip).to_be_hidden()
    page.mouse.move(x, y)
    expect(tip).to_contain_text("may attend")
    settle(page)
    lab(page).evaluate("({ attnviz: app }) => { app.payload.attn.fill(0.125); }")
    page.keyboard.press("ArrowRight")  # draws again
    page.mouse.move(x + 1, y)
    expect(tip).to_contain_text("weight 0.12500")


def test_a_file_bears_no_words_of_controls(page: Page, settle) -> None:
    words = "+".join(["the", "old", "man", "has", "a", "big", "red", "dog"] * 12)
    open_masks(page, settle, f"/masks?src={words}&to=fr&kind=encoder_self&layer=1&head=3&masks=none")
    expect(lab(page)).to_contain_text("drag a box on scores or weights to zoom")
    lab(page).get_by_text("Export").click()
    with page.expect_download() as download:
        lab(page).get_by_text("SVG picture").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert "Masked scores" in text
    assert "hatched: hidden" in text
    assert not re.search(r"\b(drag|click|zoom|paint)\b", text)


def test_one_click_shows_three_answers_of_a_row_without_keys_and_their_columns(page: Page, settle) -> None:
    open_masks(page, settle)
    page.get_by_role("button", name="A row without keys").click()
    cards = page.locator(".answers article")
    expect(cards).to_have_count(3)
    expect(cards.nth(0)).to_contain_text("NaN")
    expect(cards.nth(1)).to_contain_text("uniform")
    expect(cards.nth(2)).to_contain_text("zeros")
    tops = [box["y"] for card in cards.all() if (box := card.bounding_box())]
    assert max(tops) - min(tops) < 2, "beside each other"
    expect(page).to_have_url(re.compile("tab=fills"))
    expect(page).to_have_url(re.compile("paint="))
    settle(page)
    the_keyboard_is_told_of_a_column(page)


def the_keyboard_is_told_of_a_column(page: Page) -> None:
    head = page.locator("table.fills [data-term='masked']")
    head.scroll_into_view_if_needed()
    head.focus()
    page.keyboard.press("Shift+Tab")
    says(page, "sum")
    page.keyboard.press("Tab")
    says(page, "masked")
    scroll_under_the_bubble(page)
    says(page, "masked")
    lies_below(page, head)
