"""Links as a visitor has them: lines of heads and tokens, squares that choose heads, files to take along."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz.models import catalogue
from tests.browser import scripts
from tests.browser.heads.tabs import LINK, chosen_view, open_tab

DRAWN = "(root) => root.attnviz.shown.lines.map((line) => [line.row, line.col, line.place, line.weight])"


@pytest.fixture(scope="module")
def trace():
    return catalogue.translator().trace("I love you.", to="fr", tgt_text="Je t'aime.")


def test_hover_and_focus_show_only_the_tokens_lines(page: Page, settle, trace) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=links&lines=1.3~2.0")
    assert {place for _, _, place, _ in picture.evaluate(DRAWN)} == {0, 1}
    attn = trace.attn("cross")
    for row, col, place, weight in picture.evaluate(DRAWN):
        layer, head = [(1, 3), (2, 0)][place]
        assert weight == pytest.approx(float(attn[layer, head, row, col]), rel=1e-5, abs=1e-8)
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


def test_squares_choose_heads_and_the_link_learns_of_it(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=links")
    expect(page.get_by_role("button", name="L1 H3", exact=True).first).to_have_attribute("aria-pressed", "true")
    picture.locator("[data-head='0.2']").click()
    assert chosen_view(picture)["heads"] == [[1, 3], [0, 2]]
    picture.locator("[data-head='1.3']").click()
    # Layers stand below or beside each other, as there is room.
    page.keyboard.press("ArrowLeft" if picture.evaluate("(root) => root.attnviz.areSquaresTurned") else "ArrowUp")
    expect(picture.locator("[data-head='0.3']")).to_be_focused()
    page.keyboard.press("Enter")
    assert chosen_view(picture)["heads"] == [[0, 2], [0, 3]]
    expect(page).to_have_url(re.compile(r"lines=0\.2(~|%7E)0\.3"))
    settle(page)
    page.reload()
    settle(page)
    expect(picture.locator(".chip")).to_have_text(["L0 H2", "L0 H3"])


def test_numbers_and_pictures_can_be_taken_along(page: Page, settle, trace, tmp_path: Path) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=links&lines=1.3&held=q0")
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
        assert float(row["weight"]) == pytest.approx(float(attn[0, int(row["key_position"])]), rel=1e-5, abs=1e-8)
        assert row["key"] == trace.key_tokens("cross")[int(row["key_position"])].text


def test_a_chosen_head_of_a_long_text_shows_every_line_of_a_token(page: Page, settle, tmp_path: Path) -> None:
    open_tab(page, settle, f"{LINK}&tab=links&lines=0.0")
    length = 400
    attn = np.full((2, 6, length, length), 1 / length, np.float32)  # too faint for all heads to share a budget
    np.savez(tmp_path / "even.npz", attn=attn, tokens=np.array([f"w{at}" for at in range(length)]))
    page.get_by_role("button", name="Your own tensors").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "even.npz")
    picture = page.locator("[data-attnviz-painted]")
    expect(picture.locator(".keys .link-token")).to_have_count(length)
    page.keyboard.press("Escape")
    for head in ("0.0", "1.4"):
        if head != "0.0":
            picture.get_by_role("button", name="None").click()
            picture.locator(f"[data-head='{head}']").click()
        expect(picture.locator("footer").last).to_contain_text("fainter lines are left out")
        picture.locator(".queries .link-token").nth(3).hover()
        assert len(picture.evaluate(DRAWN)) == length
        page.mouse.move(5, 5)


def test_the_script_lets_go_of_what_is_no_token(page: Page) -> None:
    script = scripts.load(page, "heads/links/js/lines.js")
    settle = """(token) => {
      const app = { payload: { header: { shape: [2, 5, 6, 4] } }, view: { heads: [], token } };
      script.settle(app);
      return app.view.token;
    }"""
    tokens = ("q5", "k3", "k4", "q6", "x1", "Q0", " 1", "constructor", None)
    assert [script(settle, token) for token in tokens] == ["q5", "k3", *[None] * 7]
