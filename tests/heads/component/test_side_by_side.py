"""Pinned heads side by side, and the difference of two: they fill the panel, and keep the names that they are about."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz.hosts.registry import PICTURES
from attnviz.models import catalogue
from attnviz.models.translator.translator import Translator
from tests.browser.at_rest import wait_until_at_rest
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER
SHORT = ("I love you.", "Je vous adore.")
LONG = (
    "The small black cat of my old friend sleeps on the table in the kitchen because it is tired of running.", None
)  # fmt: skip
TWO = "cross.1.3~cross.2.0"
FOUR = "cross.1.3~cross.2.0~cross.0.4~cross.2.5"
MIXED = "cross.1.3~cross.2.0~encoder_self.0.2~decoder_self.1.1"
Text = tuple[str, str | None]
OpenPinned = Callable[..., Page]
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


@pytest.fixture(scope="module")
def model() -> Translator:
    return catalogue.translator()


@pytest.fixture
def open_pinned(draw: Callable[..., Page], model: Translator) -> OpenPinned:
    """Draw the pinned heads of a text, one of them in focus, with a row."""

    def make(text: Text, pins: str, compare: str = "side") -> Page:
        trace = model.trace(text[0], to="fr", tgt_text=text[1])
        shown = PICTURES["heads"].of(trace, kind="cross", layer=1, head=3, row=2, pins=pins, compare=compare)
        return draw(shown.picture, shown.payload(), before=WRITTEN)

    return make


def picture_on(page: Page) -> Locator:
    return page.locator("[data-attnviz-painted]")


def read_drawing(page: Page, size: tuple[int, int]) -> dict:
    """Read what the picture draws in a window of this size."""
    page.evaluate("window.written.clear()")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    wait_until_at_rest(picture_on(page))
    return picture_on(page).evaluate(DRAWN)


# The least share of the maps' room that is cells, in the order of SIZES: of four heads of three kinds, four of a long
# sentence, and the difference of two.
LEAST = {
    (SHORT, MIXED, "side"): (0.4, 0.28, 0.6, 0.24),
    (LONG, FOUR, "side"): (0.4, 0.28, 0.5, 0.3),
    (SHORT, TWO, "difference"): (0.65, 0.55, 0.7, 0.3),
}


def test_the_maps_fill_their_panel(open_pinned: OpenPinned) -> None:
    for asked, least in LEAST.items():
        page = open_pinned(*asked)
        for size, share in zip(SIZES, least, strict=True):
            found = read_drawing(page, size)
            assert found["share"] >= share, (asked, size)
            for tile in found["tiles"]:
                assert tile["x"] >= 0, (asked, size)
                assert tile["x"] + tile["w"] <= found["width"], (asked, size)
                assert tile["y"] + tile["h"] <= found["height"], (asked, size)


def test_every_map_keeps_the_names_of_its_row_and_of_the_keys_that_it_looks_at(open_pinned: OpenPinned) -> None:
    for pins in (FOUR, MIXED):
        page = open_pinned(LONG, pins)
        for size in ((390, 844), (1280, 720)):
            tiles = read_drawing(page, size)["tiles"]
            assert len(tiles) == 4
            for before, tile in zip([None, *tiles], tiles, strict=False):
                keeps_its_names(before, tile)
        assert {"chat", "cat"} <= written_texts(page), "in full"
    names_every_pinned_head_in_full(page)


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


def names_every_pinned_head_in_full(page: Page) -> None:
    chips = page.locator(".pin-name")
    assert chips.all_inner_texts() == ["L1 H3 cross", "L2 H0 cross", "L0 H2 encoder", "L1 H1 decoder"]
    assert chips.evaluate_all("(all) => all.every((one) => one.scrollWidth <= one.clientWidth)")
    headings = {"Cross L1 H3, in focus", "Cross L2 H0", "Encoder self L0 H2", "Decoder self L1 H1"}
    assert headings <= written_texts(page)


def written_texts(page: Page) -> set[str]:
    return set(page.evaluate("[...window.written]"))


def test_one_pinned_head_stands_alone(open_pinned: OpenPinned) -> None:
    page = open_pinned(SHORT, "cross.1.6")
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    expect(page.get_by_text("1 of up to 4 pinned heads")).to_be_visible()
