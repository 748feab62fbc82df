"""The Heads component on a page of Streamlit's: what Python hears of a choice, and what it brings."""

import pytest
from playwright.sync_api import expect

from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER, point_at, press, tip_weight, view, zoom_window

pytestmark = NEEDS_A_BROWSER
CLICK_WITHOUT_POINTER = "(button) => button.click()"


def test_python_hears_a_choice_and_the_view_that_it_sends_is_adopted(visit_app):
    page = visit_app()
    page.get_by_role("gridcell", name="L2 H1").click()
    expect(page.locator("[data-testid=stText]")).to_contain_text('"layer": 2, "head": 1')
    page.get_by_role("button", name="other view").click()
    expect(page.locator("h2").last).to_have_text("Encoder self-attention, L0 H1")
    page.get_by_role("gridcell", name="L1 H0").click()
    expect(page.locator("[data-testid=stText]")).to_contain_text('"kind": "encoder_self", "layer": 1')
    expect(page.locator("h2").last).to_have_text("Encoder self-attention, L1 H0")
    page.get_by_role("button", name="other view").click()
    expect(page.locator("h2").last).to_have_text("Encoder self-attention, L0 H1")


def test_a_zoom_goes_to_python_and_comes_back(visit_app):
    page = visit_app()
    press(page, "+")
    zoom = ", ".join(map(str, zoom_window(page)))
    expect(page.locator("[data-testid=stText]")).to_contain_text(f'"zoom": [{zoom}]')
    page.get_by_role("button", name="whole map").click()
    assert view(page)["zoom"] is None
    expect(page.locator("[data-testid=stText]")).to_contain_text('"zoom": null')


def test_the_tooltip_names_tokens_that_are_there_after_python_brings_another_map(visit_app):
    page = visit_app()
    point_at(page, 2, 5)
    expect(page.locator(".map-box .tip")).to_contain_text("爱")
    page.get_by_role("button", name="other view").evaluate(CLICK_WITHOUT_POINTER)
    expect(page.locator("h2").last).to_have_text("Encoder self-attention, L0 H1")
    row, col = page.locator(".avz").evaluate("(root) => [root.attnviz.hover?.row, root.attnviz.hover?.col]")
    expect(page.locator(".map-box .tip")).not_to_contain_text("爱")
    expect(page.locator(".map-box .tip bdi").first).to_contain_text(heads_app.SOURCE[row])
    expect(page.locator(".map-box .tip bdi").last).to_have_text(heads_app.SOURCE[col])
    assert tip_weight(page) == pytest.approx(float(heads_app.maps()["encoder_self"].attn[0, 1, row, col]), rel=6e-5)


def test_eight_bits_are_marked_until_the_exact_numbers_come(visit_app):
    page = visit_app("budget=0&row=1")
    expect(page.locator(".coarse")).to_be_hidden()
    marked = page.locator(".avz").evaluate(
        """(root) => { root.querySelector(".cell").click();
        return [root.querySelector(".coarse").hidden, root.querySelector(".bar-value").textContent]; }"""
    )
    assert marked[0] is False
    assert marked[1].startswith("≈")
    expect(page.locator(".coarse")).to_be_hidden()
    exact = heads_app.maps()["cross"].attn[0, 0, 1]
    expect(page.locator(".bars li:not([hidden]) .bar-value").first).to_have_text(f"{float(exact.max()):.4f}")
