"""Several heads at once in the Heads component, and very many of them in its overview."""

import re

import pytest
from playwright.sync_api import expect

from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER, point_at, press, site, view

pytestmark = NEEDS_A_BROWSER


def open_side_by_side(visit):
    """Cross L0 H0 (in focus) and encoder self L0 H1, side by side."""
    page = visit()
    press(page, "1")
    page.get_by_role("gridcell", name="L0 H1").click()
    press(page, "Enter", "3")
    page.get_by_role("gridcell", name="L0 H0").click()
    press(page, "Enter", "d")
    return page


def test_bars_beside_several_maps_name_the_head_in_focus_and_are_its_own(visit):
    page = open_side_by_side(visit)
    press(page, "j")
    expect(page.locator(".bars-of")).to_have_text("Cross L0 H0, in focus")
    largest = float(heads_app.maps()["cross"].attn[0, 0, 0].max())
    expect(page.locator(".bars li:not([hidden]) .bar-value").first).to_have_text(f"{largest:.4f}")
    press(page, "ArrowRight")
    expect(page.locator(".bars-of")).to_have_text("Cross L0 H1, in focus, not pinned")


def test_pointing_at_another_map_shows_that_maps_row(visit):
    page = open_side_by_side(visit)
    point_at(page, 4, 2, tile=0)
    expect(page.locator(".bars-of")).to_have_text("Encoder self L0 H1")
    expect(page.locator(".token.queried")).to_have_text(heads_app.SOURCE[4])
    largest = float(heads_app.maps()["encoder_self"].attn[0, 1, 4].max())
    expect(page.locator(".bars li:not([hidden]) .bar-value").first).to_have_text(f"{largest:.4f}")


def test_a_click_on_another_map_brings_it_into_focus(visit):
    page = open_side_by_side(visit)
    point_at(page, 4, 2, tile=0)
    page.mouse.down()
    page.mouse.up()
    assert (view(page)["kind"], site(page), view(page)["row"]) == ("encoder_self", (0, 1), 4)
    headings = page.locator(".avz").evaluate("(root) => root.attnviz.tiles.map(({ heading }) => heading)")
    assert headings == ["Encoder self L0 H1, in focus", "Cross L0 H0"]


def test_bars_of_a_difference_name_both_heads(visit):
    page = open_side_by_side(visit)
    press(page, "ArrowDown", "Enter")
    page.get_by_role("button", name="Unpin Encoder self L0 H1").click()
    press(page, "d", "j")
    expect(page.locator(".bars-of")).to_have_text("Cross L0 H0 − L1 H0")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720)])
def test_twelve_layers_of_twelve_heads_have_a_thumbnail_each_inside_the_pane(visit, width, height):
    page = visit("deep=12", viewport={"width": width, "height": height})
    cells = page.get_by_role("gridcell")
    expect(cells).to_have_count(13 * 13)
    pane = page.locator(".overview").bounding_box()
    for box in (cells.first.bounding_box(), cells.last.bounding_box()):
        assert pane["x"] <= box["x"]
        assert box["x"] + box["width"] <= pane["x"] + pane["width"]
        assert pane["y"] <= box["y"]
        assert box["y"] + box["height"] <= pane["y"] + pane["height"]
    drawn = page.locator(".avz").evaluate(
        """(root) => [...root.querySelectorAll(".cell:not(.mean) canvas")].map((canvas) =>
        canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.join())"""
    )
    assert len(set(drawn)) == 144, "every head has a picture of its own"


def test_the_last_of_144_heads_is_reached_by_keys_and_drawn_exactly(visit):
    page = visit("deep=12&row=1")
    page.get_by_role("gridcell", name=re.compile("^L10 H11")).click()
    press(page, "ArrowDown")
    assert site(page) == (11, 11)
    held = page.locator(".avz").evaluate("(root) => [...root.attnviz.tiles[0].map.data]")
    assert held == heads_app.deep_trace(12).attn("cross", layer=11, head=11).flatten().tolist()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
def test_the_tabs_of_the_kinds_stay_in_their_pane(visit, width, height):
    page = visit(viewport={"width": width, "height": height})
    pane = page.locator(".overview").bounding_box()
    for tab in page.get_by_role("tab").all():
        box = tab.bounding_box()
        assert pane["x"] <= box["x"]
        assert box["x"] + box["width"] <= pane["x"] + pane["width"]
        assert tab.evaluate("(node) => node.scrollWidth <= node.clientWidth"), "the name is not cut"
