"""The Masks page as a visitor has it: paint with the mouse and the keyboard, links, both themes, narrow screens."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from attnviz.analysis.mask_recipe import fitted
from attnviz.ui.components import mask_lab
from attnviz.views.painting import painting_to_text

PAINT = Path(mask_lab.__file__).parent / "js" / "paint.js"
LINK = "/masks?src=I+love+you.&to=fr&tgt=Je+vous+adore+tous+les+jours.&layer=1&head=3"
CORNER = """(root) => {
  const { layout, parts } = root.attnviz, box = layout.boxes.find(({ name }) => name === "MAP");
  const at = parts.map.getBoundingClientRect(), { rows, keys } = layout.zoom, { w, h } = layout.cell;
  return { x: at.x + box.x - keys[0] * w, y: at.y + box.y - rows[0] * h, w, h, top: at.y + box.y };
}"""
HIDDEN = "(root) => [...root.attnviz.cells.keys()].filter((i) => !root.attnviz.cells[i])"


def lab(page: Page) -> Locator:
    return page.locator(".lab[data-attnviz-painted]")


def opened(page: Page, settled, link: str = LINK) -> Page:
    page.goto(link)
    settled(page)
    expect(lab(page)).to_be_visible(timeout=60_000)
    expect(page.locator(".verdict q").first).to_be_visible(timeout=60_000)
    settled(page)
    at_rest(page)
    return page


def at_rest(page: Page) -> None:
    """Wait until what stands above the maps has found its place, and they theirs."""
    for _ in range(20):
        before = corner(page)
        page.wait_for_timeout(700)
        if corner(page) == before:
            return


def sums(page: Page) -> Locator:
    return lab(page).get_by_role("list", name="Row sums").locator("li")


def corner(page: Page, name: str = "masked") -> dict[str, float]:
    """Where the cell (0, 0) of a map is on the screen, or would be; its size; where the map's upper edge is."""
    return lab(page).evaluate(CORNER.replace("MAP", name))


def middle(page: Page, row: int, col: int, name: str = "masked") -> tuple[float, float]:
    """Where a cell of a map is on the screen."""
    box = corner(page, name)
    return box["x"] + (col + 0.5) * box["w"], box["y"] + (row + 0.5) * box["h"]


def drag(page: Page, start: tuple[int, int], end: tuple[int, int], name: str = "masked") -> None:
    page.mouse.move(*middle(page, *start, name))
    page.mouse.down()
    page.mouse.move(*middle(page, *end, name), steps=4)
    page.mouse.up()


def hidden(page: Page) -> list[tuple[int, int]]:
    """The painted cells, as (row, column)."""
    keys = lab(page).evaluate("(root) => root.attnviz.payload.k")
    return [divmod(cell, keys) for cell in lab(page).evaluate(HIDDEN)]


def paintings() -> list[np.ndarray]:
    """Masks of many shapes, and single hidden cells after runs whose numbers take one byte, two, and every sign."""
    draws = np.random.default_rng(7)
    shapes = ((1, 1), (2, 3), (3, 2), (5, 7), (13, 11), (40, 300))
    drawn = [draws.random(shape) < keep for shape in shapes for keep in (0.0, 0.03, 0.5, 0.97, 1.0)]
    return drawn + [np.arange(62 * 63).reshape(62, 63) != cell for cell in (0, 127, 128, 129, 192, 250, 62 * 63 - 1)]


def test_the_script_writes_and_reads_paint_as_python_does(page: Page) -> None:
    page.goto("about:blank")
    page.add_script_tag(content=PAINT.read_text(encoding="utf-8"))
    texts = [painting_to_text(painted) for painted in paintings()]
    assert {"-", "_"} <= set("".join(texts)), "the signs in which the two alphabets differ"
    for painted, text in zip(paintings(), texts, strict=True):
        (rows, cols), cells = painted.shape, painted.astype(int).ravel().tolist()
        assert page.evaluate("([cells, q, k]) => textOf(cells, q, k)", [cells, rows, cols]) == text
        assert page.evaluate("([text, q, k]) => [...paintOf(text, q, k)]", [text, rows, cols]) == cells


def test_the_script_fits_paint_of_another_length_as_python_does(page: Page) -> None:
    page.goto("about:blank")
    page.add_script_tag(content=PAINT.read_text(encoding="utf-8"))
    painted = np.random.default_rng(3).random((4, 6)) < 0.5
    for q, k in ((4, 6), (2, 9), (7, 3)):
        cells = page.evaluate("([text, q, k]) => [...paintOf(text, q, k)]", [painting_to_text(painted), q, k])
        assert cells == fitted(torch.from_numpy(painted), q, k).int().flatten().tolist()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_painted_mask_is_applied_and_the_row_sums_follow(visitor, settled, theme: str) -> None:
    page = visitor(color_scheme=theme).new_page()
    opened(page, settled, LINK + "&fill=zero+after&row=3")
    before = [float(text.rsplit(": ", 1)[1]) for text in sums(page).all_text_contents()]
    drag(page, (3, 0), (3, 2))
    expect(page).to_have_url(re.compile("paint="))
    assert hidden(page) == [(3, 0), (3, 1), (3, 2)]
    expect(sums(page).nth(3)).not_to_have_text(re.compile(rf": {before[3]:.4f}$"))
    after = [float(text.rsplit(": ", 1)[1]) for text in sums(page).all_text_contents()]
    assert after[3] < before[3]
    assert after[:3] + after[4:] == before[:3] + before[4:]
    expect(lab(page).get_by_role("list", name="What happened")).to_contain_text("no longer sum")


@pytest.mark.parametrize("fill", ["-inf", "-1e9", "finfo.min", "number", "zero before", "zero after", "fused"])
def test_what_is_shown_at_once_is_what_torch_then_says(page: Page, settled, fill: str) -> None:
    opened(page, settled, f"{LINK}&fill={fill.replace(' ', '+')}")
    numbers = "(root) => [...root.attnviz.payload.attn].map((weight) => (Number.isNaN(weight) ? -1 : weight))"
    id_ = lab(page).get_attribute("data-attnviz-painted")
    page.mouse.move(*middle(page, 4, 1))
    page.mouse.down()  # while the button is down, the first answer is still on its way
    at_once = lab(page).evaluate(numbers)
    page.mouse.up()
    expect(lab(page)).not_to_have_attribute("data-attnviz-painted", id_ or "")
    assert lab(page).evaluate(numbers) == pytest.approx(at_once, abs=1e-6)
    assert float(lab(page).get_attribute("data-attnviz-edit-ms") or "inf") < 150


def test_a_link_shows_somebody_else_the_same_paint(page: Page, visitor, settled) -> None:
    opened(page, settled)
    drag(page, (4, 1), (5, 2))
    expect(page).to_have_url(re.compile("paint="))
    settled(page)
    other = opened(visitor().new_page(), settled, page.url)
    assert sums(other).all_text_contents() == sums(page).all_text_contents()
    assert lab(other).evaluate("(root) => [...root.attnviz.cells]") == lab(page).evaluate(
        "(root) => [...root.attnviz.cells]"
    )


def test_the_keyboard_paints_cells_rows_and_columns(page: Page, settled) -> None:
    opened(page, settled)
    keys = lab(page).evaluate("(root) => root.attnviz.payload.k")
    lab(page).locator("canvas").focus()

    def after(*pressed: str, becomes: list[tuple[int, int]]) -> bool:
        for key in pressed:
            page.keyboard.press(key)
        for _ in range(20):  # a busy browser hands a key on a moment after it has taken it
            if hidden(page) == becomes:
                return True
            page.wait_for_timeout(50)
        return False

    cells = [(row, col) for row in range(keys) for col in range(keys)]
    assert after("ArrowDown", "Space", becomes=[(1, 0)])
    expect(page).to_have_url(re.compile("paint="))
    assert after("Shift+ArrowRight", "Shift+ArrowDown", becomes=[(1, 0), (1, 1), (2, 1)])
    assert after("x", becomes=[])
    assert after("r", becomes=[(2, col) for col in range(keys)])
    assert after("r", "c", becomes=[(row, 1) for row in range(keys)])
    assert after("i", becomes=[(row, col) for row, col in cells if col != 1])
    assert after("x", "Enter", becomes=[])
    expect(lab(page).get_by_role("heading", name=re.compile("^Row 2:"))).to_be_visible()
    assert after("b", becomes=[(row, col) for row, col in cells if col > row]), "causal, as paint"
    expect(page).to_have_url(re.compile("masks=none"))


def test_shift_takes_a_row_or_a_column_and_so_does_its_name(page: Page, settled) -> None:
    opened(page, settled)
    keys = lab(page).evaluate("(root) => root.attnviz.payload.k")
    column = [(row, 4) for row in range(keys)]
    for modifiers, place, taken in (
        (["Shift"], middle(page, 2, 1), [(2, col) for col in range(keys)]),
        (["Shift", "Alt"], middle(page, 2, 4), column),
        ([], (middle(page, 0, 4)[0], corner(page)["top"] - 5), column),
    ):
        for expected in (taken, []):
            for key in modifiers:
                page.keyboard.down(key)
            page.mouse.click(*place)
            for key in modifiers:
                page.keyboard.up(key)
            assert hidden(page) == expected


def test_a_long_sentence_is_zoomed_into_and_painted_cell_by_cell(page: Page, visitor, settled) -> None:
    words = ["the", "old", "man", "who", "lives", "in", "this", "small", "house", "has", "a", "big", "red", "dog"] * 18
    opened(page, settled, f"/masks?src={'+'.join(words[:250])}&to=fr&kind=encoder_self&layer=1&head=3&masks=none")
    assert lab(page).evaluate("(root) => root.attnviz.payload.k") > 240
    drag(page, (100, 100), (200, 200))
    assert len(hidden(page)) >= 100
    times = []
    for _ in range(6):  # every cell at once is the dearest edit; the best of some, for the machine may be busy
        page.keyboard.press("i")
        times.append(float(lab(page).get_attribute("data-attnviz-edit-ms") or "inf"))
    assert min(times) < 150
    page.keyboard.press("x")
    drag(page, (40, 40), (63, 59), "scores")
    expect(page).to_have_url(re.compile(r"zoom=\d+\.\d+\.\d+\.\d+"))
    box = corner(page)
    assert min(box["w"], box["h"]) > 5
    page.mouse.click(*middle(page, 50, 45))
    assert hidden(page) == [(50, 45)]
    expect(page).to_have_url(re.compile("paint="))
    settled(page)
    other = opened(visitor().new_page(), settled, page.url)
    assert hidden(other) == [(50, 45)]
    assert lab(other).evaluate("(root) => root.attnviz.zoom") == lab(page).evaluate("(root) => root.attnviz.zoom")
    lab(page).locator("canvas").focus()
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile("zoom="))
    assert corner(page)["w"] < 1


def test_the_whole_map_is_there_as_a_table(page: Page, settled) -> None:
    opened(page, settled)
    page.get_by_role("button", name="Table").click()
    grid = page.get_by_test_id("stDataFrame")
    columns = ["row", "row_in", "row_out", "key_position", "key", "may_attend", "score", "masked_score", "weight"]
    expect(grid.locator("th")).to_have_text(columns)
    size = lab(page).evaluate("({ attnviz: { payload } }) => payload.q * payload.k")
    assert grid.locator("table").get_attribute("aria-rowcount") == str(size + 1)


def test_a_row_without_keys_is_nan_and_the_page_says_why(page: Page, settled) -> None:
    opened(page, settled)
    page.keyboard.down("Shift")
    page.mouse.click(*middle(page, 2, 1))
    page.keyboard.up("Shift")
    expect(sums(page).nth(2)).to_have_text(re.compile("NaN$"))
    expect(lab(page).get_by_role("list", name="What happened")).to_contain_text("NaN")


def test_a_pinned_row_is_there_in_numbers(page: Page, settled) -> None:
    opened(page, settled, LINK + "&row=2")
    table = lab(page).get_by_role("table", name="Pinned row in numbers")
    for name in ("score", "masked score", "exp(s − max)", "weight"):
        expect(table.get_by_role("rowheader", name=name, exact=True)).to_be_visible()
    expect(table).to_contain_text("−∞")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
def test_it_fits_the_screen_across(visitor, settled, theme: str, width: int, height: int) -> None:
    page = visitor(color_scheme=theme, viewport={"width": width, "height": height}).new_page()
    opened(page, settled)
    assert lab(page).get_attribute("data-theme") == theme
    edge = lab(page).evaluate("(root) => root.getBoundingClientRect().right")
    assert edge <= width
    inner = lab(page).locator("canvas").evaluate("(map) => map.getBoundingClientRect().right")
    assert inner <= edge
