"""The tooltip goes when a key changes the map, and follows what Python brings; the names that the picture is about
stay.
"""

import re

import pytest
from playwright.sync_api import expect

from attnviz.analysis.metric_table import head_metrics
from attnviz.maps.selection import select
from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER, point_at, press, tip_weight, view

pytestmark = NEEDS_A_BROWSER


def test_a_key_puts_the_tooltip_away_until_the_pointer_moves_over_the_new_map(visit):
    page = visit()
    tip = page.locator(".map-box .tip")
    cross = heads_app.maps()["cross"].attn
    point_at(page, 2, 5)
    press(page, "Shift")  # changes nothing by itself
    expect(tip).to_be_visible()
    for key, (layer, head) in (("ArrowDown", (2, 0)), ("ArrowRight", (2, 1)), ("ArrowUp", (1, 1))):
        press(page, key)
        expect(tip).to_be_hidden()
        point_at(page, 2, 4)
        point_at(page, 2, 5)
        assert tip_weight(page) == pytest.approx(float(cross[layer, head, 2, 5]), rel=6e-5)
    press(page, "+", "+")
    expect(tip).to_be_hidden()
    x, y = page.locator(".avz").evaluate(
        """({ attnviz: { parts, point } }) => { const { x, y } = parts.overlay.getBoundingClientRect();
        return [x + point[0], y + point[1]]; }"""
    )
    page.mouse.move(x + 1, y)
    hover = page.locator(".avz").evaluate("(root) => [root.attnviz.hover.row, root.attnviz.hover.col]")
    assert tip_weight(page) == pytest.approx(float(cross[1, 1, hover[0], hover[1]]), rel=6e-5)


def test_no_tooltip_is_left_where_there_is_no_cell_any_more(visit):
    page = visit()
    last = len(heads_app.TARGET) - 1
    point_at(page, last, 2)
    expect(page.locator(".map-box .tip")).to_be_visible()
    press(page, "+", "Shift+ArrowUp", *["k"] * last)  # another window of the map
    hover, zoom = page.locator(".avz").evaluate("({ attnviz }) => [attnviz.hover, attnviz.tiles[0].zoom]")
    expect(page.locator(".map-box .tip")).to_be_hidden()
    assert hover is None or zoom["top"] <= hover["row"] < zoom["bottom"]


def test_a_token_pointed_at_says_the_weight_of_the_head_that_the_keys_bring(visit):
    page = visit("row=3")
    token = page.locator(".tokens").first.locator(".token").nth(2)
    token.hover()
    press(page, "ArrowDown")
    weight = float(heads_app.maps()["cross"].attn[2, 0, 3, 2])
    assert float(token.get_attribute("title")) == pytest.approx(weight, rel=6e-5)


def test_sorted_thumbnails_print_what_they_are_sorted_by(visit):
    page = visit("deep=3")
    page.get_by_label("Sort", exact=True).select_option("entropy")
    press(page, "v")
    page.get_by_label("Tint", exact=True).select_option("diagonality")
    trace = heads_app.deep_trace(3)
    table = head_metrics({"cross": select(trace, "cross")}, trace).sort_values("entropy", ascending=False)
    printed = [float(text) for text in page.locator(".cell-value").all_inner_texts() if text]
    assert printed == pytest.approx(table["entropy"].tolist(), abs=0.006)
    summary = page.locator(".summary")
    expect(summary).to_contain_text("number and order: entropy (bits)")
    expect(summary).to_contain_text("tint: diagonality")
    first = table.iloc[0]
    label = re.compile(rf"L{first.layer} H{first['head']}, entropy \(bits\) [\d.]+, diagonality [\d.]+")
    expect(page.get_by_role("gridcell").first).to_have_attribute("aria-label", label)


def test_a_measure_that_a_kind_does_not_have_is_not_given_a_range(visit):
    page = visit("deep=2")
    press(page, "v")
    page.get_by_label("Tint", exact=True).select_option("previous_token")
    expect(page.locator(".summary")).to_contain_text("previous token: none for this kind")


NAMED = """({ attnviz: { tiles, view: { row } } }) => tiles.map(({ named, map, kind: { nCols } }) =>
  ({ ...named, weights: [...map.data.subarray(row * nCols, (row + 1) * nCols)] }))"""


def test_side_by_side_a_long_sentence_keeps_the_names_that_the_picture_is_about(visit):
    page = visit("n=60&row=31")
    page.get_by_role("gridcell", name="L0 H0").click()
    press(page, "Enter", "ArrowRight", "Enter", "ArrowDown", "Enter", "d")
    tiles = page.locator(".avz").evaluate(NAMED)
    assert len(tiles) == 3
    for tile in tiles:
        assert len(tile["cols"]) < 60, "there is no room for all"
        assert 31 in tile["rows"]
        ranked = sorted(range(60), key=lambda col: -tile["weights"][col])
        strong = [col for col in ranked[:3] if tile["weights"][col] >= tile["weights"][ranked[0]] / 4]
        assert set(strong) <= set(tile["cols"])
    point_at(page, 45, 17)
    for tile in page.locator(".avz").evaluate(NAMED):
        assert 45 in tile["rows"]
        assert 17 in tile["cols"]


def test_the_help_goes_with_the_next_thing_done_and_takes_nothing_along(visit):
    page = visit("row=2")
    dialog = page.get_by_role("dialog", name="Keys and words")
    press(page, "?")
    expect(dialog).to_contain_text("How evenly a row's weight is spread")
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    assert view(page)["row"] == 2, "Esc takes one thing away at a time"
    press(page, "?", "ArrowRight")
    expect(dialog).to_be_hidden()
    press(page, "?")
    page.locator(".legend .note").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="? help").click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_esc_closes_the_export_menu_and_keeps_the_row(visit):
    page = visit("row=2")
    page.locator("summary", has_text="Export").click()
    expect(page.get_by_role("menuitem").first).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("menuitem").first).to_be_hidden()
    expect(page.locator("summary", has_text="Export")).to_be_focused()
    assert view(page)["row"] == 2


@pytest.mark.parametrize("width", [1440, 1280])
def test_the_order_of_the_bars_keeps_its_place_beside_a_row_pointed_at(visit, width):
    page = visit("row=2", viewport={"width": width, "height": 900})
    before = page.locator(".bars-order").bounding_box()
    press(page, "Escape")
    point_at(page, 2, 3)
    expect(page.locator(".bars-title")).to_have_text("Row pointed at")
    pane, order = page.locator(".bars-pane").bounding_box(), page.locator(".bars-order").bounding_box()
    assert order["x"] + order["width"] <= pane["x"] + pane["width"] + 0.5
    assert abs(order["x"] - before["x"]) < 1
    assert abs(order["height"] - before["height"]) < 1


def test_a_click_on_a_token_and_a_key_leave_no_frame_around_the_page(visit):
    page = visit()
    page.locator(".token").nth(2).click()
    press(page, "m")
    host = page.evaluate("document.activeElement.shadowRoot !== null || document.activeElement.matches('.avz')")
    assert host, "the component has the focus, not the page around it"
    assert page.locator(".avz").evaluate("(root) => getComputedStyle(root).outlineStyle") == "none"
