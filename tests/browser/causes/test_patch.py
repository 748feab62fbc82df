"""Patch and Attribute in a browser: a cell is patched, read, undone, and patched again by Back."""

import re
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_opened_recording import export

PAIR = {
    "src": "The animal didn't cross the street because it was too tired.",
    "changed": "The animal didn't cross the street because it was too dirty.",
    "to": "fr",
}


def read_as_a_table(page: Page, lines: list[str]) -> None:
    """Check that the table has the lines of the CSV, and that a column's name sorts by it."""
    page.get_by_role("button", name="Table", exact=True).click()
    numbers = page.get_by_role("dialog", name="Numbers")
    expect(numbers.locator("tbody tr")).to_have_count(len(lines) - 1)
    for _ in range(2):
        numbers.get_by_role("columnheader", name="restored").get_by_role("button").click()
    largest = max(float(share) for line in lines[1:] if (share := line.split(",")[4]) != '""')
    first = numbers.locator("tbody tr").first.locator("td").nth(4)
    assert float(first.inner_text()) == pytest.approx(largest, 1e-4)
    page.keyboard.press("Escape")
    expect(numbers).to_be_hidden()


def test_a_cell_is_put_in_force_read_taken_back_and_brought_back(page: Page, settle: Callable) -> None:
    page.goto("/causes?" + urlencode({"tab": "patch", "step": "10", **PAIR}))
    settle(page)
    cells = page.locator(".in-force li")
    expect(cells).to_have_text(re.compile("None yet"))
    page.get_by_role("group", name="Matrices of patches").focus()
    for key in ("ArrowDown", *["ArrowDown"] * 3, *["ArrowRight"] * 9, "Enter"):
        page.keyboard.press(key)
    expect(cells).to_have_text(re.compile("encoder after L2 at it #9"))
    expect(page.locator(".side dt")).to_have_text(["Restored", "Control", "Wrote", "Writes now"])
    expect(page.locator(".side dd mark").first).to_be_visible()
    page.wait_for_url(re.compile(r"put=encoder\.2\.9"))
    settle(page)
    csv, svg = export(page, "CSV of the numbers"), export(page, "SVG picture")
    assert csv.splitlines()[0].endswith('"restored","control","metric","note"')
    assert sum('"encoder"' in line for line in csv.splitlines()) == 4 * 15
    assert "too dirty" in svg
    read_as_a_table(page, csv.splitlines())
    expect(cells).to_have_count(1)
    page.locator(".matrices canvas").click(position={"x": 40, "y": 30})
    expect(cells).to_have_count(2)
    page.wait_for_url(re.compile(r"put=encoder\.2\.9%7Eencoder\.e\.0|put=encoder\.2\.9~encoder\.e\.0"))
    settle(page)
    page.get_by_role("button", name="Undo last").click()
    page.get_by_role("button", name="Undo encoder after L2 at it #9").click()
    expect(cells).to_have_text(re.compile("None yet"))
    settle(page)
    page.go_back()
    expect(cells.first).to_have_text(re.compile("encoder after L2 at it #9"))
    page.get_by_role("button", name="fatigué").click()
    page.wait_for_url(re.compile(r"step=17"))
    expect(page.locator(".patching h2").first).to_have_text(re.compile("fatigué.* − .*sale.*step 17"))


def test_a_heads_bar_opens_into_tokens(page: Page, settle: Callable) -> None:
    page.goto("/causes?" + urlencode({"tab": "attribute", "src": "A big red dog jumped over the fence.", "to": "fr"}))
    settle(page)
    page.get_by_role("button", name="rouge").click()
    page.wait_for_url(re.compile(r"step=3"))
    settle(page)
    page.get_by_role("group", name="What adds to the logit").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".side h2").first).to_have_text(re.compile(r"L\d (self|cross) H\d, through each token"))
    page.wait_for_url(re.compile(r"opened=\w+\.\d\.\d"))
    page.keyboard.press("d")
    expect(page.locator(".legend")).to_be_visible()
    page.wait_for_url(re.compile(r"drops=1"))
    expect(page.locator(".lens .asked").first).to_have_text("rouge")
    lens = export(page, "CSV of the logit lens").splitlines()
    said = lens[1 + 3 * 5].split(",")
    assert said[:4] == ['"decoder: the prediction after each layer"', '"embedding"', "3", '"rouge"']
    assert "Logit lens, decoder: the prediction after each layer" in export(page, "SVG picture")
