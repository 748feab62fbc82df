"""The laboratory's maps lie beside or below each other, and a cell is found where it is drawn."""

import itertools

import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

APP = """([q, k, d, width, room, zoom]) => {
  const cols = Array.from({ length: k }, (_, i) => "key".repeat(1 + (i % 3)));
  const rowNames = Array.from({ length: q }, (_, i) => `row ${i}`);
  const app = { payload: { q, k, d, header: { cols } }, zoom, rowNames };
  app.layout = layoutOf(app, { widthOf: (text, size) => 0.55 * size * text.length }, width, room);
  return app;
}"""


@pytest.fixture(scope="module")
def layout(module):
    script = module("masks/js/layout.js")
    return lambda act, given: script(
        f"({{ layoutOf, cellAt, topOf, leftOf }}, given) => {{ const app = ({APP})(given); return ({act})(app); }}",
        given,
    )


@each_case(
    ("shape", "width"), [*itertools.product([(1, 1, 4), (8, 8, 16), (5, 60, 0), (200, 200, 16)], [360, 900, 1400])]
)
def test_boxes_lie_within_the_width_and_do_not_overlap(layout, shape, width) -> None:
    act = "(app) => [app.layout.boxes.map(({ name, x, y, w, h }) => ({ name, x, y, w, h })), app.layout.height]"
    boxes, height = layout(act, [*shape, width, 400, None])
    names = ["scores", "masked", "attn", "sums", *(["context"] if shape[2] else [])]
    assert sorted(box["name"] for box in boxes) == sorted(names)
    for box in boxes:
        assert box["x"] >= 0
        assert box["x"] + box["w"] <= width
        assert box["y"] + box["h"] <= height
    for one, other in itertools.combinations(boxes, 2):
        apart = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert apart or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"], (one, other)


@each_case("zoom", [None, [2, 6, 3, 9]])
@each_case("width", [380, 1200])
def test_every_cell_is_found_at_its_middle(layout, zoom, width) -> None:
    act = """(app) => app.layout.boxes.filter((box) => box.keys).flatMap((box) => {
      const { zoom: { rows, keys }, cell } = app.layout;
      const found = [];
      for (let row = rows[0]; row < rows[1]; row++)
        for (let col = keys[0]; col < keys[1]; col++) {
          const at = cellAt(app, leftOf(app, box, col) + cell.w / 2, topOf(app, box, row) + cell.h / 2);
          found.push([box.name, row, col, at?.box.name, at?.row, at?.col]);
        }
      return found;
    })"""
    found = layout(act, [8, 10, 16, width, 400, zoom])
    assert len(found) == 3 * (4 * 6 if zoom else 8 * 10)
    assert all(line[:3] == line[3:] for line in found)


def test_names_beside_a_map_are_its_rows_and_above_it_its_keys(layout) -> None:
    act = """(app) => {
      const box = app.layout.boxes.find(({ name }) => name === "scores");
      const at = (x, y) => { const found = cellAt(app, x, y); return found && [found.row, found.col]; };
      const { w, h } = app.layout.cell;
      return [at(box.x - 5, box.y + 2.5 * h), at(box.x + 1.5 * w, box.y - 5), at(box.x - 5, box.y - 5), at(-50, -50)];
    }"""
    assert layout(act, [8, 10, 16, 1200, 400, None]) == [[2, None], [None, 1], None, None]
