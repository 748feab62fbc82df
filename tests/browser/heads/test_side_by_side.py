"""Pinned heads side by side, and the difference of two: they fill the panel, and keep the names that they are about."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.at_rest import wait_until_at_rest
from tests.browser.heads.tabs import open_tab

SHORT = "src=I+love+you.&to=fr&tgt=Je+vous+adore."
LONG = (
    "src=The+small+black+cat+of+my+old+friend+sleeps+on+the+table+in+the+kitchen+because+it+is+tired+of+running.&to=fr"
)
TWO = "&pins=cross.1.3~cross.2.0"
FOUR = "&pins=cross.1.3~cross.2.0~cross.0.4~cross.2.5"
MIXED = "&pins=cross.1.3~cross.2.0~encoder_self.0.2~decoder_self.1.1"
SIZES = [(1440, 900), (1280, 720), (1920, 1080), (390, 844)]
DRAWN = """(root) => {
  const { tiles, sizes: { map: [width, height] }, view: { row } } = root.attnviz;
  return { share: tiles.reduce((sum, { geometry: { w, h } }) => sum + w * h, 0) / (width * height), width, height,
    tiles: tiles.map(({ geometry: { x, y, w, h, cell, labelWidth }, named, kind, map, place }) => ({
      x, y, w, h, cell, labelWidth, named, isNamedBefore: place?.isNamedBefore ?? false, kind: kind.kind,
      weights: [...map.data.subarray(row * kind.nCols, (row + 1) * kind.nCols)] })) };
}"""
# What is written on the maps: names as they were drawn last.
WRITTEN = """() => {
  window.written = new Set();
  const fillText = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
    window.written.add(text);
    fillText.call(this, text, ...more);
  };
}"""


@pytest.fixture
def page(fresh_page: Page) -> Page:
    fresh_page.add_init_script(f"({WRITTEN})()")
    return fresh_page


def open_pinned(page: Page, settle, link: str) -> Locator:
    return open_tab(page, settle, f"/heads?{link}&kind=cross&layer=1&head=3&row=2")


def read_drawing(page: Page, picture: Locator, size: tuple[int, int]) -> dict:
    """Read what the picture draws in a window of this size."""
    page.evaluate("window.written.clear()")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    wait_until_at_rest(picture)
    return picture.evaluate(DRAWN)


# The least share of the maps' room that is cells, in the order of SIZES: of four heads of three kinds, four of a long
# sentence, and the difference of two.
LEAST = {
    f"{SHORT}{MIXED}&compare=side": (0.4, 0.28, 0.6, 0.24),
    f"{LONG}{FOUR}&compare=side": (0.4, 0.28, 0.5, 0.3),
    f"{SHORT}{TWO}&compare=difference": (0.65, 0.55, 0.7, 0.3),
}


def test_the_maps_fill_their_panel(page: Page, settle) -> None:
    for link, least in LEAST.items():
        picture = open_pinned(page, settle, link)
        for size, share in zip(SIZES, least, strict=True):
            found = read_drawing(page, picture, size)
            assert found["share"] >= share, (link, size)
            for tile in found["tiles"]:
                assert tile["x"] >= 0, (link, size)
                assert tile["x"] + tile["w"] <= found["width"], (link, size)
                assert tile["y"] + tile["h"] <= found["height"], (link, size)


def test_every_map_keeps_the_names_of_its_row_and_of_the_keys_that_it_looks_at(page: Page, settle) -> None:
    for pins in (FOUR, MIXED):
        picture = open_pinned(page, settle, f"{LONG}{pins}&compare=side")
        for size in ((390, 844), (1280, 720)):
            tiles = read_drawing(page, picture, size)["tiles"]
            assert len(tiles) == 4
            for before, tile in zip([None, *tiles], tiles, strict=False):
                keeps_its_names(before, tile)
        assert {"chat", "cat"} <= written_texts(page), "in full"


def keeps_its_names(before: dict | None, tile: dict) -> None:
    top = max(range(len(tile["weights"])), key=tile["weights"].__getitem__)
    if tile["kind"] != "encoder_self":
        assert 2 in tile["named"]["rows"]
        assert top in tile["named"]["cols"]
    if tile["isNamedBefore"]:  # the row is one line, named on its left
        assert before is not None
        assert tile["y"] == before["y"]
        assert tile["cell"]["h"] == before["cell"]["h"]
        assert tile["x"] > before["x"] + before["w"]
    else:
        assert tile["labelWidth"] >= 24


def test_chips_and_headings_name_every_pinned_head_in_full(page: Page, settle) -> None:
    read_drawing(page, open_pinned(page, settle, f"{LONG}{MIXED}&compare=side"), (1280, 720))
    chips = page.locator(".pin-name")
    assert chips.all_inner_texts() == ["L1 H3 cross", "L2 H0 cross", "L0 H2 encoder", "L1 H1 decoder"]
    assert chips.evaluate_all("(all) => all.every((one) => one.scrollWidth <= one.clientWidth)")
    headings = {"Cross L1 H3, in focus", "Cross L2 H0", "Encoder self L0 H2", "Decoder self L1 H1"}
    assert headings <= written_texts(page)


def written_texts(page: Page) -> set[str]:
    return set(page.evaluate("[...window.written]"))


def test_one_pinned_head_stands_alone(page: Page, settle) -> None:
    page.goto("/heads?src=I+love+you.&to=fr&pins=cross.1.6&compare=side")
    settle(page)
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    expect(page.get_by_text("1 of up to 4 pinned heads")).to_be_visible()
