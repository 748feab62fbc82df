"""The Masks page as a visitor has it: paint with the mouse and the keyboard, links, both themes, narrow screens."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

LINK = "/masks?src=I+love+you.&to=fr&tgt=Je+vous+adore+tous+les+jours.&layer=1&head=3"
CORNER = """(root) => {
  const { layout, parts } = root.attnviz, box = layout.boxes.find(({ name }) => name === "masked");
  const at = parts.map.getBoundingClientRect();
  return { x: at.x + box.x, y: at.y + box.y, ...layout.cell };
}"""


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
        before = lab(page).evaluate(CORNER)
        page.wait_for_timeout(700)
        if lab(page).evaluate(CORNER) == before:
            return


def sums(page: Page) -> Locator:
    return lab(page).get_by_role("list", name="Row sums").locator("li")


def middle(page: Page, row: int, col: int) -> tuple[float, float]:
    """Where a cell of the masked scores is on the screen."""
    box = lab(page).evaluate(CORNER)
    return box["x"] + (col + 0.5) * box["w"], box["y"] + (row + 0.5) * box["h"]


def drag(page: Page, start: tuple[int, int], end: tuple[int, int]) -> None:
    page.mouse.move(*middle(page, *start))
    page.mouse.down()
    page.mouse.move(*middle(page, *end), steps=4)
    page.mouse.up()


def test_a_painted_mask_is_applied_and_the_row_sums_follow(page: Page, settled) -> None:
    opened(page, settled, LINK + "&fill=zero+after&row=3")
    before = [float(text.rsplit(": ", 1)[1]) for text in sums(page).all_text_contents()]
    drag(page, (3, 0), (3, 2))
    expect(page).to_have_url(re.compile("paint="))
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
    lab(page).locator("canvas").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("paint="))
    cells = "(root) => [...root.attnviz.cells].filter((cell) => !cell).length"
    assert lab(page).evaluate(cells) == 1
    page.keyboard.press("r")
    length = lab(page).evaluate("(root) => root.attnviz.payload.k")
    assert lab(page).evaluate(cells) == length
    page.keyboard.press("c")
    assert lab(page).evaluate(cells) == 2 * length - 1
    page.keyboard.press("x")
    assert lab(page).evaluate(cells) == 0


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
