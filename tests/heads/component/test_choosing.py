"""Choosing in the Heads component: keys, pointer, pins, and what Python and the browser hear of each other."""

import re

import pytest
from playwright.sync_api import expect

from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER, point_at, press, site, view

pytestmark = NEEDS_A_BROWSER


def test_arrow_keys_walk_the_grid_and_stop_at_its_edges(visit):
    page = visit()
    page.get_by_role("gridcell", name="L0 H0").click()
    press(page, "ArrowRight")
    assert site(page) == (0, 1)
    press(page, "ArrowDown", "ArrowDown")
    assert site(page) == (2, 1)
    press(page, "ArrowRight", "ArrowRight")
    assert site(page) == (2, "mean")
    press(page, "ArrowDown", "ArrowDown", "ArrowLeft")
    assert site(page) == ("mean", 1)
    selected = page.locator("[role=gridcell][aria-selected=true]")
    expect(selected).to_have_count(1)
    expect(selected).to_be_focused()


def test_keys_work_before_anything_has_the_focus(visit):
    page = visit()
    press(page, "a")
    assert site(page) == (1, "mean")
    press(page, "a", "l")
    assert site(page) == ("mean", 0)


def test_sorting_puts_the_largest_first_and_arrows_follow_it(visit):
    page = visit()
    page.get_by_label("Sort").select_option("entropy")
    values = heads_app.metrics(heads_app.maps()).query("kind == 'cross'").sort_values("entropy", ascending=False)
    first, second = [f"L{row.layer} H{row.head}" for row in values.head(2).itertuples()]
    expect(page.get_by_role("gridcell").first).to_have_attribute("aria-label", re.compile(first))
    page.get_by_role("gridcell").first.click()
    press(page, "ArrowRight")
    expect(page.locator("h2").last).to_have_text(f"Cross-attention, {second}")


def test_256_tokens_react_to_the_keys(visit):
    page = visit("n=256&row=3")
    page.get_by_role("gridcell", name="L0 H0").click()
    press(page, "ArrowRight", "ArrowDown", "j", "j")
    assert site(page) == (1, 1)
    assert view(page)["row"] == 5
    expect(page.locator(".coarse")).to_be_hidden()
    expect(page.locator(".legend")).to_contain_text("largest weight of each block")


COUNT_PAINTINGS = """(root) => { root.painted = 0;
const pen = root.attnviz.parts.map.getContext("2d"), draw = pen.drawImage;
pen.drawImage = (...given) => { root.painted += 1; draw.apply(pen, given); }; }"""
# Whether the pinned row's outline crosses the overlay just above the first cell of a row.
IS_OUTLINED = """(root, row) => { const { x, y, cell } = root.attnviz.tiles[0].geometry;
const pen = root.attnviz.parts.overlay.getContext("2d");
return pen.getImageData(x + 3, y + row * cell.h - 1, 1, 1).data[3] > 0; }"""


def test_another_row_is_marked_without_painting_the_map_again(visit):
    page = visit("row=1")
    component = page.locator(".avz")
    component.evaluate(COUNT_PAINTINGS)
    assert [component.evaluate(IS_OUTLINED, row) for row in (1, 4)] == [True, False]
    press(page, "j", "j", "j")
    point_at(page, 2, 3)
    assert [component.evaluate(IS_OUTLINED, row) for row in (1, 4)] == [False, True]
    assert component.evaluate("(root) => root.painted") == 0
    press(page, "ArrowRight", "v")
    page.get_by_label("Range").select_option("max")
    page.emulate_media(color_scheme="dark")
    expect(component).to_have_attribute("data-theme", "dark")
    assert component.evaluate("(root) => root.painted") == 3


def test_a_click_pins_a_row_and_rings_its_output_token(visit):
    page = visit()
    point_at(page, 2, 3)
    page.mouse.down()
    page.mouse.up()
    assert view(page)["row"] == 2
    expect(page.locator(".token.queried")).to_have_text("爱")
    press(page, "j")
    assert view(page)["row"] == 3
    press(page, "Shift+ArrowUp", "k")
    assert view(page)["row"] == 1
    press(page, "Escape")
    assert view(page)["row"] is None


def test_a_token_of_the_query_side_pins_its_row(visit):
    page = visit()
    page.locator(".token", has_text="Un").click()
    assert view(page)["row"] == 0


def test_two_pins_can_be_told_apart_by_their_difference(visit):
    page = visit()
    page.get_by_role("gridcell", name="L0 H0").click()
    press(page, "Enter", "ArrowRight", "Enter")
    assert view(page)["pins"] == [["cross", 0, 0], ["cross", 0, 1]]
    page.get_by_role("button", name="Side by side").click()
    assert page.locator(".avz").evaluate("(root) => root.attnviz.tiles.length") == 2
    page.get_by_role("button", name="Difference").click()
    point_at(page, 4, 2)
    cross = heads_app.maps()["cross"].attn
    difference = float(cross[0, 0, 4, 2] - cross[0, 1, 4, 2])
    assert float(page.locator(".map-box .tip-value").inner_text()) == pytest.approx(difference, rel=1e-3)
    largest = float((cross[0, 0] - cross[0, 1]).abs().max())
    low = page.locator(".legend span").first.inner_text()
    assert -float(low.removeprefix("−")) == pytest.approx(-largest, rel=1e-4)


def test_the_right_mouse_button_pins_nothing(visit):
    page = visit("row=3")
    point_at(page, 2, 5)
    page.mouse.down(button="right")
    page.mouse.up(button="right")
    assert view(page)["row"] == 3
    page.mouse.down()
    page.mouse.up()
    assert view(page)["row"] == 2
