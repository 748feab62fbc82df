"""The mask laboratory as a browser test reaches it: where a cell is on the screen, what is painted, the row sums."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.at_rest import wait_in_page, wait_until_at_rest

LINK = "/masks?src=I+love+you.&to=fr&tgt=Je+vous+adore+tous+les+jours.&layer=1&head=3"
CORNER = """(root) => {
  const { layout, parts } = root.attnviz, box = layout.boxes.find(({ name }) => name === "MAP");
  const at = parts.map.getBoundingClientRect(), { rows, keys } = layout.zoom, { w, h } = layout.cell;
  return { x: at.x + box.x - keys[0] * w, y: at.y + box.y - rows[0] * h, w, h, top: at.y + box.y };
}"""
HIDDEN = "(root) => [...root.attnviz.cells.keys()].filter((i) => !root.attnviz.cells[i])"


def lab(page: Page) -> Locator:
    return page.locator(".lab[data-attnviz-painted]")


def open_masks(page: Page, settle, link: str = LINK) -> Page:
    page.goto(link)
    settle(page)
    expect(lab(page)).to_be_visible(timeout=60_000)
    expect(page.locator(".verdict q").first).to_be_visible(timeout=60_000)
    settle(page)
    wait_until_at_rest(lab(page))
    return page


def wait_until_answered(page: Page, settle) -> None:
    """Return once what was painted has been told (250 ms later) and answered: the answer may move the picture."""
    wait_in_page(page, 300)
    settle(page)
    wait_until_at_rest(lab(page))


def sums(page: Page) -> Locator:
    return lab(page).get_by_role("list", name="Row sums").locator("li")


def corner(page: Page, name: str = "masked") -> dict[str, float]:
    """Locate the cell (0, 0) of a map on the screen, with its size and the map's upper edge."""
    return lab(page).evaluate(CORNER.replace("MAP", name))


def middle(page: Page, row: int, col: int, name: str = "masked") -> tuple[float, float]:
    """Locate the middle of a cell on the screen."""
    box = corner(page, name)
    return box["x"] + (col + 0.5) * box["w"], box["y"] + (row + 0.5) * box["h"]


def drag(page: Page, start: tuple[int, int], end: tuple[int, int], name: str = "masked") -> None:
    page.mouse.move(*middle(page, *start, name))
    page.mouse.down()
    page.mouse.move(*middle(page, *end, name), steps=4)
    page.mouse.up()


def hidden_cells(page: Page) -> list[tuple[int, int]]:
    """Return the painted cells, as (row, column)."""
    keys = lab(page).evaluate("(root) => root.attnviz.payload.k")
    return [divmod(cell, keys) for cell in lab(page).evaluate(HIDDEN)]
