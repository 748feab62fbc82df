"""The Masks page in a browser: a painted mask, links, tables, both themes, narrow screens."""

import re

from playwright.sync_api import Page, expect

from tests.browser.at_rest import wait_until_at_rest
from tests.browser.masks.mask_lab import LINK, drag, hidden_cells, lab, open_masks, sums


def test_a_painted_mask_is_applied_and_the_row_sums_follow(page: Page, settle) -> None:
    open_masks(page, settle, LINK + "&fill=zero+after&row=3")
    before = [float(text.rsplit(": ", 1)[1]) for text in sums(page).all_text_contents()]
    drag(page, (3, 0), (3, 2))
    expect(page).to_have_url(re.compile("paint="))
    assert hidden_cells(page) == [(3, 0), (3, 1), (3, 2)]
    expect(sums(page).nth(3)).not_to_have_text(re.compile(rf": {before[3]:.4f}$"))
    after = [float(text.rsplit(": ", 1)[1]) for text in sums(page).all_text_contents()]
    assert after[3] < before[3]
    assert after[:3] + after[4:] == before[:3] + before[4:]
    expect(lab(page).get_by_role("list", name="What happened")).to_contain_text("no longer sum")


def test_the_whole_map_and_a_pinned_row_are_tables_and_all_fits_the_screens_width(page: Page, settle) -> None:
    open_masks(page, settle, LINK + "&row=2")
    table = lab(page).get_by_role("table", name="Pinned row in numbers")
    for name in ("score", "masked score", "exp(s − max)", "weight"):
        expect(table.get_by_role("rowheader", name=name, exact=True)).to_be_visible()
    expect(table).to_contain_text("−∞")
    page.get_by_role("button", name="Table").click()
    grid = page.get_by_test_id("stDataFrame")
    columns = ["row", "row_in", "row_out", "key_position", "key", "may_attend", "score", "masked_score", "weight"]
    expect(grid.locator("th").nth(9)).to_have_text("row_in_piece")  # and the other pieces and ids, out of sight
    assert grid.locator("th").all_inner_texts()[:9] == columns
    assert grid.locator("table").get_attribute("aria-colcount") == str(len(columns) + 6)
    size = lab(page).evaluate("({ attnviz: { payload } }) => payload.q * payload.k")
    assert grid.locator("table").get_attribute("aria-rowcount") == str(size + 1)
    for theme, width, height in (("light", 1440, 900), ("dark", 1280, 720), ("dark", 390, 844)):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": height})
        expect(lab(page)).to_have_attribute("data-theme", theme)
        wait_until_at_rest(lab(page))
        edge = lab(page).evaluate("(root) => root.getBoundingClientRect().right")
        assert edge <= width
        inner = lab(page).locator("canvas").evaluate("(map) => map.getBoundingClientRect().right")
        assert inner <= edge


def test_nothing_covers_a_rules_number_while_it_is_typed(page: Page, settle) -> None:
    open_masks(page, settle, LINK + "&masks=window")
    field = page.get_by_role("spinbutton", name="window: reach")
    field.fill("5")
    expect(field).to_have_value("5")
    expect(
        page.locator(".st-key-mask-controls").get_by_test_id("InputInstructions").filter(visible=True)
    ).to_have_count(0)
    page.locator(".st-key-mask-controls").get_by_test_id("stNumberInputStepUp").click()
    expect(page).to_have_url(re.compile(r"masks=window_6"))
