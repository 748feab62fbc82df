"""Decoding's maps stand on common rows, or stack on a phone; a cell is found where it is drawn."""

import itertools

import pytest
from playwright.sync_api import Page

from attnviz.hosts import registry
from attnviz.hosts.registry import picture
from attnviz.kit.bundle import source
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.bare_page import BarePage

pytestmark = NEEDS_A_BROWSER

APP = """([steps, keys, size, screen]) => {
  const texts = (count, text) => Array.from({ length: count }, (_, i) => `${text}${i}`);
  const kind = (name, nRows, nCols, follows) => ({ kind: name, nRows, nCols, follows, layers: 2, heads: 3,
    rows: texts(nRows, "row"), cols: texts(nCols, "key") });
  const kinds = [kind("decoder_self", steps, steps, true), kind("decoder_self", steps, steps, true),
    kind("cross", steps, keys, true), kind("encoder_self", keys, keys, false)];
  const app = { root: { dataset: { size: screen } }, payload: { kinds, header: {
    steps: Array.from({ length: steps }, (_, i) => ({ input: `in${i}`, chosen: `out${i}` })) } } };
  app.boxes = script.layoutOf(app, { widthOf: (text, size) => 0.55 * size * text.length }, size);
  return app;
}"""


@pytest.fixture(scope="module")
def layout(module):
    script = module("decoding/js/layout.js")
    return lambda act, given: script(
        f"(script, given) => {{ const app = ({APP})(given); return ({act})(app); }}", given
    )


BOXES = "(app) => app.boxes.map(({ kind, x, y, w, h, left }) => ({ left, x, y, w: w * kind.nCols, h: h * kind.nRows }))"


@each_case(("lengths", "width"), [*itertools.product([(3, 4), (12, 30), (40, 6)], [700, 1000, 1400])])
def test_side_by_side_maps_fit_and_share_their_first_row(layout, lengths, width) -> None:
    boxes = layout(BOXES, [*lengths, [width, 420], "wide"])
    assert len({box["y"] for box in boxes}) == 1
    assert boxes[-1]["x"] + boxes[-1]["w"] <= width
    assert all(box["y"] + box["h"] <= 420 for box in boxes)
    for one, other in itertools.pairwise(boxes):
        assert one["x"] + one["w"] <= other["left"]


def test_on_a_phone_a_pass_stays_beside_its_steps_and_the_others_stack(layout) -> None:
    one_pass, steps, cross, encoder = layout(BOXES, [6, 8, [350, 300], "phone"])
    assert one_pass["y"] == steps["y"]
    assert one_pass["x"] + one_pass["w"] < steps["x"]
    assert steps["x"] + steps["w"] <= 350
    assert steps["y"] + steps["h"] < cross["y"]
    assert cross["y"] + cross["h"] < encoder["y"]


@pytest.mark.parametrize("screen", ["wide", "phone"])
def test_every_cell_is_found_at_its_middle(layout, screen) -> None:
    act = """(app) => app.boxes.map((box, at) => {
      let found = 0;
      for (let row = 0; row < box.kind.nRows; row++)
        for (let col = 0; col < box.kind.nCols; col++) {
          const cell = script.cellAt(app.boxes, [box.x + (col + 0.5) * box.w, box.y + (row + 0.5) * box.h]);
          found += cell && app.boxes.indexOf(cell.box) === at && cell.row === row && cell.col === col;
        }
      return found === box.kind.nRows * box.kind.nCols;
    })"""
    assert layout(act, [6, 8, [900, 400], screen]) == [True] * 4


def test_why_a_map_is_missing_is_said(layout) -> None:
    act = """(app) => [[5, 0], [0, 7], [1, "mean"]].map(([layer, head]) =>
      script.absence({ layer, head }, app.payload.kinds[0]).join(" "))"""
    layer, head, coming = layout(act, [3, 4, [900, 400], "wide"])
    assert layer == "No L5 H0: L0 to L1, H0 to H2."
    assert head == "No L0 H7: L0 to L1, H0 to H2."
    assert coming == "asking for this head …"


def test_beside_a_lesson_the_names_of_the_tables_columns_are_whole(empty_page: Page) -> None:
    shown = picture("stepper").of(tiny_translator(seed=0), "I love you", to="fr")
    bare = BarePage(empty_page, source(registry.widget("stepper")), shown.payload())
    bare.page.evaluate("document.querySelector('#cell').style.width = '880px'")  # of 1440, less menu and panel
    bare.attach()
    names = bare.root.locator(".table-box th").evaluate_all(
        "(cells) => cells.map((cell) => [cell.textContent, cell.scrollWidth <= cell.clientWidth])"
    )
    assert [name for name, is_whole in names if not is_whole] == []
    assert "probability" in dict(names)
