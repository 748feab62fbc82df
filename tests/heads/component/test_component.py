"""What the Heads component shows in a browser: numbers, marks, themes, room, and text that stays text."""

import re

import pytest
import torch
from playwright.sync_api import Browser, expect

import attnviz
from attnviz.hosts import registry
from attnviz.kit.bundle import source
from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER, point_at, press
from tests.kit.bare_page import BarePage

pytestmark = NEEDS_A_BROWSER


def test_a_pinned_row_shows_its_exact_weights_and_their_sum(visit):
    page = visit("row=3")
    weights = heads_app.maps()["cross"].attn[1, 0, 3]
    expect(page.locator(".bars-row")).to_have_text("\u2068爱\u2069 → \u2068:red[x]\u2069 looks at")
    shown = page.locator(".bars li:not([hidden])")
    expect(shown).to_have_count(len(weights))
    largest = int(weights.argmax())
    expect(shown.first.locator(".bar-name")).to_have_text(heads_app.SOURCE[largest])
    expect(shown.first.locator(".bar-value")).to_have_text(f"{float(weights[largest]):.4f}")
    expect(page.locator(".sum")).to_have_text("Σ = 1.0000")


def test_hover_says_the_float32_weight(visit):
    page = visit()
    point_at(page, 2, 5)
    weight = float(heads_app.maps()["cross"].attn[1, 0, 2, 5])
    said = float(page.locator(".map-box .tip-value").inner_text())
    assert said == pytest.approx(weight, rel=6e-5)
    held = page.locator(".avz").evaluate("(root) => root.attnviz.tiles[0].map.data[2 * 8 + 5]")
    assert held == weight
    expect(page.locator(".map-box .tip")).to_contain_text("爱")


def test_a_token_says_its_weight_when_pointed_at(visit):
    page = visit("row=3")
    weights = heads_app.maps()["cross"].attn[1, 0, 3]
    token = page.locator(".tokens").first.locator(".token").nth(2)
    token.hover()
    assert float(token.get_attribute("title")) == pytest.approx(float(weights[2]), rel=6e-5)
    press(page, "j")
    page.mouse.move(0, 0)
    token.hover()
    assert float(token.get_attribute("title")) == pytest.approx(
        float(heads_app.maps()["cross"].attn[1, 0, 4, 2]), rel=6e-5
    )


def test_a_masked_cell_says_so(visit):
    page = visit()
    press(page, "2", "m")
    point_at(page, 1, 4)
    expect(page.locator(".map-box .tip")).to_contain_text("masked")
    expect(page.locator(".legend")).to_contain_text("hatched: masked")


def test_text_is_drawn_as_text(visit):
    page = visit("row=5")
    assert page.locator(".tokens").first.locator(".token").all_inner_texts() == list(heads_app.SOURCE)
    expect(page.locator(".token.queried")).to_have_text("<img src=x onerror=alert(1)>")
    assert page.locator(".avz img, .avz b:not(.tip-value)").count() == 0


def test_a_sink_can_be_left_out_of_the_colour_range(visit):
    page = visit()
    press(page, "v")
    page.get_by_label("Range").select_option("sink")
    inner = heads_app.maps()["cross"].attn[1, 0][:, 1:-1].max()
    assert page.locator(".avz").evaluate("(root) => root.attnviz.range.high") == pytest.approx(float(inner))
    expect(page.locator(".legend")).to_contain_text("sink left out of the range")


def test_the_theme_of_the_browser_is_followed(visit):
    page = visit()
    corner = "(root) => [...root.querySelector('.cell canvas').getContext('2d').getImageData(0, 0, 1, 1).data]"
    light = page.locator(".avz").evaluate(corner)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".avz")).to_have_attribute("data-theme", "dark")
    assert page.locator(".avz").evaluate(corner) != light


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
def test_no_two_panes_overlap(visit, width, height):
    page = visit("row=2", viewport={"width": width, "height": height})
    boxes = [pane.bounding_box() for pane in page.locator(".pane").all()]
    for i, one in enumerate(boxes):
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= width
        for other in boxes[i + 1 :]:
            apart_x = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
            apart_y = one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
            assert apart_x or apart_y


def test_the_choice_is_announced(visit):
    page = visit("row=0")
    press(page, "l")
    expect(page.locator("[aria-live]")).to_have_text(re.compile(r"H0 mean over layers.*Row <bos> → Un looks at"))


def test_colours_up_to_the_largest_weight_are_offered_where_a_map_is_nearly_white(browser: Browser):
    page, tokens = browser.new_page(), list("abcdefghij")
    trace = attnviz.from_tensors([torch.full((1, 10, 10), 0.1)], tokens)
    bare = BarePage(page, source(registry.widget("heads")), attnviz.picture("heads").of(trace).payload())
    bare.attach()
    legend, white = bare.root.locator(".legend"), bare.drawing()
    expect(legend).to_contain_text("the largest weight is 0.10000")
    legend.get_by_role("button", name="0 to max").click()
    expect(legend).to_contain_text("up to the largest weight")
    expect(legend.get_by_role("button", name="0 to max")).to_be_hidden()
    assert bare.drawing() != white
    legend.get_by_role("button", name="0 to 1").click()
    assert bare.drawing() == white
    page.close()


def test_they_are_not_offered_where_a_weight_is_large(visit):
    page = visit()
    expect(page.locator(".legend").get_by_role("button", name="0 to max")).to_be_hidden()
