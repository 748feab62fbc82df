"""Links, Whole model, Neuron and somebody's own tensors, as a visitor has them."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attnviz

SENTENCE = "src=I+love+you.&to=fr&tgt=Je+t%27aime."
LINK = f"/heads?{SENTENCE}&kind=cross&layer=1&head=3"
DRAWN = "(root) => root.attnviz.shown.lines.map((line) => [line.row, line.col, line.place, line.weight])"

STEPS = "(nodes) => Object.fromEntries(nodes.map((node) => [node.dataset.step, Number(node.dataset.value)]))"


@pytest.fixture(scope="module")
def trace():
    return attnviz.load().trace("I love you.", to="fr", tgt_text="Je t'aime.")


def opened(page: Page, settled, link: str):
    page.goto(link)
    settled(page)
    picture = page.locator("[data-attnviz-painted]")
    expect(picture).to_be_visible()
    return picture


def in_view(picture) -> dict:
    return json.loads(picture.get_attribute("data-attnviz-view"))


def test_hover_and_focus_show_only_the_tokens_lines(page: Page, settled, trace) -> None:
    picture = opened(page, settled, f"{LINK}&tab=links&lines=1.3~2.0")
    assert {place for _, _, place, _ in picture.evaluate(DRAWN)} == {0, 1}
    attn = trace.attn("cross")
    for row, col, place, weight in picture.evaluate(DRAWN):
        layer, head = [(1, 3), (2, 0)][place]
        assert weight == float(attn[layer, head, row, col])
    queries, keys = picture.locator(".queries .link-token"), picture.locator(".keys .link-token")
    assert [text.split(" → ")[-1] for text in queries.all_inner_texts()] == [
        token.text for token in trace.output_tokens("cross")
    ]
    queries.nth(2).hover()
    assert {row for row, *_ in picture.evaluate(DRAWN)} == {2}
    largest = float(max(attn[1, 3, 2].max(), attn[2, 0, 2].max()))
    assert float(picture.locator(".list-weight").first.inner_text()) == pytest.approx(largest, rel=1e-4)
    page.mouse.move(5, 5)
    keys.first.focus()
    assert {col for _, col, *_ in picture.evaluate(DRAWN)} == {0}
    page.keyboard.press("ArrowDown")
    expect(keys.nth(1)).to_be_focused()
    assert {col for _, col, *_ in picture.evaluate(DRAWN)} == {1}
    page.keyboard.press("ArrowLeft")
    assert {row for row, *_ in picture.evaluate(DRAWN)} == {1}


def test_squares_choose_heads_and_the_link_learns_of_it(page: Page, settled) -> None:
    picture = opened(page, settled, f"{LINK}&tab=links")
    expect(page.get_by_role("button", name="L1 H3", exact=True).first).to_have_attribute("aria-pressed", "true")
    picture.locator("[data-head='0.2']").click()
    assert in_view(picture)["heads"] == [[1, 3], [0, 2]]
    picture.locator("[data-head='1.3']").click()
    page.keyboard.press("ArrowUp")
    expect(picture.locator("[data-head='0.3']")).to_be_focused()
    page.keyboard.press("Enter")
    assert in_view(picture)["heads"] == [[0, 2], [0, 3]]
    expect(page).to_have_url(re.compile(r"lines=0\.2(~|%7E)0\.3"))
    settled(page)
    page.reload()
    settled(page)
    expect(picture.locator(".chip")).to_have_text(["L0 H2", "L0 H3"])


def test_a_click_in_the_whole_model_opens_that_head(page: Page, settled) -> None:
    picture = opened(page, settled, f"{LINK}&tab=model")
    expect(picture.get_by_role("gridcell")).to_have_count(24)
    picture.get_by_role("button", name="Lines").click()
    assert in_view(picture)["mini"] == "lines"
    picture.get_by_role("gridcell", name="L2 H4").click()
    expect(page.locator("[data-attnviz-painted]")).to_contain_text("Cross-attention, L2 H4")
    expect(page).to_have_url(re.compile("tab=heads|^(?!.*tab=)"))
    assert "layer=2" in page.url


def test_the_neuron_numbers_are_those_of_the_trace(page: Page, settled, trace) -> None:
    picture = opened(page, settled, f"{LINK}&tab=neuron&row=2&key=1&order=contribution")
    call = trace.call("cross", 1)
    query, key = call.query[0, 3, 2].double().numpy(), call.key[0, 3, 1].double().numpy()
    steps = picture.locator("[data-step]").evaluate_all(STEPS)
    assert steps["dot"] == pytest.approx(float(query @ key), abs=1e-5)
    assert steps["scaled"] == pytest.approx(float(trace.scores("cross", layer=1, head=3)[2, 1]), abs=1e-5)
    assert steps["weight"] == pytest.approx(float(trace.attn("cross", layer=1, head=3)[2, 1]), abs=1e-6)
    order = picture.evaluate("(root) => [...root.attnviz.pair.order]")
    assert order == np.argsort(-(query * key), kind="stable").tolist()
    row = [float(text) for text in picture.locator(".option-weight").all_inner_texts()]
    assert row == pytest.approx(trace.attn("cross", layer=1, head=3)[2].tolist(), abs=6e-5)
    picture.get_by_role("option").filter(has_text="love").click()
    picture.get_by_label("Head").select_option("5")
    expect(picture.locator("h2").nth(1)).to_contain_text("L1 H5")
    expect(page).to_have_url(re.compile("head=5"))


def test_numbers_and_pictures_can_be_taken_along(page: Page, settled, trace, tmp_path: Path) -> None:
    picture = opened(page, settled, f"{LINK}&tab=links&lines=1.3&held=q0")
    for ending, name in (("csv", "CSV"), ("svg", "SVG"), ("png", "PNG")):
        picture.locator("summary", has_text="Export").click()
        with page.expect_download() as download:
            picture.get_by_role("menuitem", name=name).click()
        download.value.save_as(tmp_path / f"links.{ending}")
    assert (tmp_path / "links.png").read_bytes().startswith(b"\x89PNG")
    assert "Cross-attention" in (tmp_path / "links.svg").read_text(encoding="utf-8")
    with (tmp_path / "links.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["row"] for row in rows} == {"0"}
    attn = trace.attn("cross", layer=1, head=3)
    for row in rows:
        assert np.float32(row["weight"]) == np.float32(attn[0, int(row["key_position"])])
        assert row["key"] == trace.key_tokens("cross")[int(row["key_position"])].text


def test_a_file_of_ones_own_is_drawn_and_its_flaws_are_said(page: Page, settled, tmp_path: Path) -> None:
    opened(page, settled, f"{LINK}&tab=links")
    attn = np.full((2, 3, 4, 4), 0.25, np.float32)
    attn[1, 2, 3] = 0.5
    tokens = ["<img src=x onerror='window.hacked=1'>", "$x$", "مرحبا", "爱"]
    np.savez(tmp_path / "own.npz", attn=attn, tokens=np.array(tokens))
    page.get_by_role("button", name="Your own tensors").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "own.npz")
    picture = page.locator("[data-attnviz-painted]")
    expect(picture.locator(".keys .link-token")).to_have_text(tokens)
    expect(page.get_by_text("1 of 24 rows of encoder_self do not sum to 1")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    expect(page.locator(".status-bar")).to_contain_text("2 layers × 3 heads")


@pytest.mark.parametrize("tab", ["links", "model", "neuron"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_nothing_overlaps(visitor, settled, tab: str, width: int, height: int) -> None:
    page = visitor(viewport={"width": width, "height": height}, color_scheme="dark").new_page()
    picture = opened(page, settled, f"{LINK}&tab={tab}")
    expect(picture).to_have_attribute("data-theme", "dark")
    boxes = [box for pane in picture.locator(".pane").all() if (box := pane.bounding_box())]
    for index, one in enumerate(boxes):
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= width
        for other in boxes[index + 1 :]:
            across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
            down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
            assert min(across, down) <= 1, (one, other)
