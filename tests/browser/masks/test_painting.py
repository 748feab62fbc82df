"""Painting a mask: with the mouse and the keyboard, cell by cell in a long sentence, and what is shown at once."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.masks.mask_lab import (
    LINK,
    corner,
    drag,
    hidden_cells,
    lab,
    middle,
    open_masks,
    sums,
    wait_until_answered,
)


def test_what_is_shown_at_once_is_what_torch_then_says(page: Page, settle) -> None:
    """With one fill: tests/masks/mask_lab/test_preview.py has them all."""
    open_masks(page, settle, f"{LINK}&fill=number")
    numbers = "(root) => [...root.attnviz.payload.attn].map((weight) => (Number.isNaN(weight) ? -1 : weight))"
    id_ = lab(page).get_attribute("data-attnviz-painted")
    page.mouse.move(*middle(page, 4, 1))
    page.mouse.down()  # while the button is down, the first answer is still on its way
    at_once = lab(page).evaluate(numbers)
    page.mouse.up()
    expect(lab(page)).not_to_have_attribute("data-attnviz-painted", id_ or "")
    assert lab(page).evaluate(numbers) == pytest.approx(at_once, abs=1e-6)


def test_the_keyboard_paints_cells_rows_and_columns_and_hears_why_nothing_changes(page: Page, settle) -> None:
    open_masks(page, settle)
    painting_a_hidden_cell_announces_why_nothing_changes(page)
    page.keyboard.press("x")
    keys = lab(page).evaluate("(root) => root.attnviz.payload.k")
    lab(page).locator("canvas").focus()

    def press_until(*pressed: str, becomes: list[tuple[int, int]]) -> bool:
        for key in pressed:
            page.keyboard.press(key)
        for _ in range(20):  # a busy browser hands a key on a moment after it has taken it
            if hidden_cells(page) == becomes:
                return True
            page.wait_for_timeout(50)
        return False

    cells = [(row, col) for row in range(keys) for col in range(keys)]
    assert press_until("ArrowDown", "Space", becomes=[(1, 0)])
    expect(page).to_have_url(re.compile("paint="))
    assert press_until("Shift+ArrowRight", "Shift+ArrowDown", becomes=[(1, 0), (1, 1), (2, 1)])
    assert press_until("x", becomes=[])
    assert press_until("r", becomes=[(2, col) for col in range(keys)])
    assert press_until("r", "c", becomes=[(row, 1) for row in range(keys)])
    assert press_until("i", becomes=[(row, col) for row, col in cells if col != 1])
    assert press_until("x", "Enter", becomes=[])
    expect(lab(page).get_by_role("heading", name=re.compile("^Row 2:"))).to_be_visible()
    assert press_until("b", becomes=[(row, col) for row, col in cells if col > row]), "causal, as paint"
    expect(page).to_have_url(re.compile("masks=none"))


def painting_a_hidden_cell_announces_why_nothing_changes(page: Page) -> None:
    said = lab(page).get_by_role("status")
    lab(page).locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text(re.compile("hidden by a rule$"))
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    expect(said).to_have_text(re.compile("hidden by a rule. Paint can only hide more"))
    page.keyboard.press("ArrowLeft")
    expect(said).to_have_text(re.compile("may attend$"))
    page.keyboard.press("Space")
    expect(said).to_have_text(re.compile("hidden by paint$"))


def test_shift_takes_a_row_which_is_then_nan_or_a_column_and_so_does_its_name(page: Page, settle) -> None:
    open_masks(page, settle)
    keys = lab(page).evaluate("(root) => root.attnviz.payload.k")
    column = [(row, 4) for row in range(keys)]
    for modifiers, place, taken in (
        (["Shift"], middle(page, 2, 1), [(2, col) for col in range(keys)]),
        (["Shift", "Alt"], middle(page, 2, 4), column),
        ([], (middle(page, 0, 4)[0], corner(page)["top"] - 5), column),
    ):
        for expected in (taken, []):
            for key in modifiers:
                page.keyboard.down(key)
            page.mouse.click(*place)
            for key in modifiers:
                page.keyboard.up(key)
            assert hidden_cells(page) == expected
            if expected and expected is not column:
                expect(sums(page).nth(2)).to_have_text(re.compile("NaN$"))
                expect(lab(page).get_by_role("list", name="What happened")).to_contain_text("NaN")


def test_a_long_sentence_is_zoomed_into_and_painted_cell_by_cell(page: Page, settle) -> None:
    words = ["the", "old", "man", "who", "lives", "in", "this", "small", "house", "has", "a", "big", "red", "dog"] * 18
    open_masks(page, settle, f"/masks?src={'+'.join(words[:250])}&to=fr&kind=encoder_self&layer=1&head=3&masks=none")
    assert lab(page).evaluate("(root) => root.attnviz.payload.k") > 240
    drag(page, (100, 100), (200, 200))
    assert len(hidden_cells(page)) >= 100
    page.keyboard.press("i")  # every cell at once
    page.keyboard.press("x")
    wait_until_answered(page, settle)
    drag(page, (40, 40), (63, 59), "scores")
    expect(page).to_have_url(re.compile(r"zoom=\d+\.\d+\.\d+\.\d+"))
    wait_until_answered(page, settle)
    box = corner(page)
    assert min(box["w"], box["h"]) > 5
    page.mouse.click(*middle(page, 50, 45))
    assert hidden_cells(page) == [(50, 45)]
    expect(page).to_have_url(re.compile("paint="))
    wait_until_answered(page, settle)
    numbers = sums(page).all_text_contents()
    zoom = lab(page).evaluate("(root) => root.attnviz.zoom")
    open_masks(page, settle, page.url)
    assert hidden_cells(page) == [(50, 45)]
    assert sums(page).all_text_contents() == numbers
    assert lab(page).evaluate("(root) => root.attnviz.zoom") == zoom
    lab(page).locator("canvas").focus()
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile("zoom="))
    assert corner(page)["w"] < 1
