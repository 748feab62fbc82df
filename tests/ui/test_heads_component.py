"""The Heads component in a browser: keys, pointer, numbers, themes, and text that stays text."""

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.ui.apps import heads_app
from tests.ui.heads_page import NEEDS_A_BROWSER, point_at, press, site, view

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
    said = float(page.locator(".tip-value").inner_text())
    assert said == pytest.approx(weight, rel=6e-5)
    held = page.locator(".avz").evaluate("(root) => root.attnviz.tiles[0].map.data[2 * 8 + 5]")
    assert held == weight
    expect(page.locator(".tip")).to_contain_text("爱")


def test_a_masked_cell_says_so(visit):
    page = visit()
    press(page, "2", "m")
    point_at(page, 1, 4)
    expect(page.locator(".tip")).to_contain_text("masked")
    expect(page.locator(".legend")).to_contain_text("hatched: masked")


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


def test_eight_bits_are_marked_until_the_exact_numbers_come(visit):
    page = visit("budget=0&row=1")
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


def test_python_hears_of_the_choice(visit):
    page = visit()
    page.get_by_role("gridcell", name="L2 H1").click()
    expect(page.locator("[data-testid=stText]")).to_contain_text('"layer": 2, "head": 1')


def test_a_view_from_python_is_adopted_and_the_visitor_may_go_on(visit):
    page = visit()
    page.get_by_role("gridcell", name="L2 H1").click()
    expect(page.locator("[data-testid=stText]")).to_contain_text('"layer": 2')
    page.get_by_role("button", name="other view").click()
    expect(page.locator("h2").last).to_have_text("Encoder self-attention, L0 H1")
    page.get_by_role("gridcell", name="L1 H0").click()
    expect(page.locator("[data-testid=stText]")).to_contain_text('"kind": "encoder_self", "layer": 1')
    expect(page.locator("h2").last).to_have_text("Encoder self-attention, L1 H0")
    page.get_by_role("button", name="other view").click()
    expect(page.locator("h2").last).to_have_text("Encoder self-attention, L0 H1")


def test_text_is_drawn_as_text(visit):
    page = visit("row=5")
    assert page.locator(".tokens").first.locator(".token").all_inner_texts() == list(heads_app.SOURCE)
    expect(page.locator(".token.queried")).to_have_text("<img src=x onerror=alert(1)>")
    assert page.locator(".avz img, .avz b:not(.tip-value)").count() == 0


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
    assert float(page.locator(".tip-value").inner_text()) == pytest.approx(difference, rel=1e-3)
    largest = float((cross[0, 0] - cross[0, 1]).abs().max())
    low = page.locator(".legend span").first.inner_text()
    assert -float(low.removeprefix("−")) == pytest.approx(-largest, rel=1e-4)


def test_a_sink_can_be_left_out_of_the_colour_range(visit):
    page = visit()
    page.get_by_label("Range").select_option("sink")
    inner = heads_app.maps()["cross"].attn[1, 0][:, 1:-1].max()
    assert page.locator(".avz").evaluate("(root) => root.attnviz.range.high") == pytest.approx(float(inner))
    expect(page.locator(".legend")).to_contain_text("sink left out of the range")


def test_the_theme_of_the_browser_is_followed(visit):
    page = visit(color_scheme="light")
    corner = "(root) => [...root.querySelector('.cell canvas').getContext('2d').getImageData(0, 0, 1, 1).data]"
    light = page.locator(".avz").evaluate(corner)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".avz")).to_have_attribute("data-theme", "dark")
    assert page.locator(".avz").evaluate(corner) != light


def test_the_csv_holds_every_float32(visit, tmp_path: Path):
    page = visit()
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="CSV").click()
    path = tmp_path / "map.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    attn = heads_app.maps()["cross"].attn[1, 0]
    assert len(rows) == attn.numel()
    for row in rows:
        assert float(row["weight"]) == float(attn[int(row["row"]), int(row["key_position"])])
        assert row["key"] == heads_app.SOURCE[int(row["key_position"])]


def test_the_svg_carries_the_labels_escaped(visit, tmp_path: Path):
    page = visit("row=1")
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="SVG").click()
    path = tmp_path / "map.svg"
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "<img" not in text
    assert "&#60;b&#62;bold&#60;/b&#62;" in text
    labels = {node.text for node in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")}
    assert {"<b>bold</b>", "مرحبا", "**gros**", "Cross-attention, L1 H0"} <= labels


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
def test_nothing_lies_over_anything_else(visit, width, height):
    page = visit("row=2", viewport={"width": width, "height": height})
    boxes = [pane.bounding_box() for pane in page.locator(".pane").all()]
    for i, one in enumerate(boxes):
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= width
        for other in boxes[i + 1 :]:
            apart_x = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
            apart_y = one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
            assert apart_x or apart_y


def test_256_tokens_react_to_the_keys(visit):
    page = visit("n=256&row=3")
    page.get_by_role("gridcell", name="L0 H0").click()
    press(page, "ArrowRight", "ArrowDown", "j", "j")
    assert site(page) == (1, 1)
    assert view(page)["row"] == 5
    expect(page.locator(".coarse")).to_be_hidden()
    expect(page.locator(".legend")).to_contain_text("largest weight of each block")


def test_the_choice_is_announced(visit):
    page = visit("row=0")
    press(page, "l")
    expect(page.locator("[aria-live]")).to_have_text(re.compile(r"H0 mean over layers.*Row <bos> → Un looks at"))
