"""Every cell lies where a pointer looks for it, and inside its box."""

import itertools

import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

SHAPES = [(1, 1), (3, 40), (40, 3), (8, 8), (60, 60)]
BOXES = [(300, 260), (700, 500), (1100, 420)]
# A pen that knows how wide a text is, and a map whose texts are of several lengths.
TILE = """([nRows, nCols], zoom, heading) => ({
  heading, atBottom: true,
  kind: { nRows, nCols, rows: Array.from({ length: nRows }, (_, i) => [`in${i}`, i % 3 ? `output${i}` : null]),
          cols: Array.from({ length: nCols }, (_, i) => "key".repeat(1 + (i % 4))) },
  zoom: zoom ?? { top: 0, bottom: nRows, left: 0, right: nCols } })"""
PEN = "{ widthOf: (text, size) => 0.55 * size * text.length }"
BOX = "([w, h]) => ({ x: 12, y: 40, w, h })"


@pytest.fixture(scope="module")
def geometry(module):
    return module("heads/js/map/geometry.js")


@each_case("shape", SHAPES)
def test_a_map_lies_in_its_box_and_its_labels_beside_it(geometry, shape) -> None:
    for size, heading in itertools.product(BOXES, ("", "Cross L0 H0")):
        require_in_its_box(geometry, shape, size, heading)


def require_in_its_box(geometry, shape, size, heading) -> None:
    act = f"""({{ geometryOf }}, [shape, size, heading]) => {{
      const tile = ({TILE})(shape, null, heading);
      return {{ ...geometryOf({PEN}, tile, ({BOX})(size)) }};
    }}"""
    drawn = geometry(act, [list(shape), list(size), heading])
    box = drawn["box"]
    assert box["x"] <= drawn["x"] - drawn["labelWidth"]
    assert drawn["x"] + drawn["w"] <= box["x"] + box["w"]
    assert box["y"] < drawn["y"]
    if drawn["cell"]["h"] > 0.5:  # no cell is lower than that
        assert drawn["y"] + drawn["h"] <= box["y"] + box["h"]
    assert drawn["w"] == pytest.approx(drawn["cell"]["w"] * shape[1])
    assert drawn["h"] == pytest.approx(drawn["cell"]["h"] * shape[0])
    assert drawn["angle"] <= 0


@pytest.mark.parametrize("zoom", [None, {"top": 2, "bottom": 7, "left": 1, "right": 8}])
def test_every_cell_is_found_at_its_middle_and_none_outside(geometry, zoom) -> None:
    act = f"""({{ geometryOf, cellAt, rowAt, rowTop, colLeft }}, zoom) => {{
      const drawn = geometryOf({PEN}, ({TILE})([8, 9], zoom, ""), ({BOX})([700, 500]));
      const {{ x, y, w, h, cell }} = drawn;
      const found = [];
      for (let row = drawn.zoom.top; row < drawn.zoom.bottom; row++)
        for (let col = drawn.zoom.left; col < drawn.zoom.right; col++) {{
          const at = [colLeft(drawn, col) + cell.w / 2, rowTop(drawn, row) + cell.h / 2];
          found.push([row, col, cellAt(drawn, at), rowAt(drawn, at)]);
        }}
      const outside = [[x - 1, y + 1], [x + 1, y - 1], [x + w + 1, y + 1], [x + 1, y + h + 1]];
      const beside = [[x - 4, y + 1], [x + w + 1, y + 1], [x + 1, y - 1], [0, y + 1]];
      return [found, outside.map((at) => cellAt(drawn, at)), beside.map((at) => rowAt(drawn, at))];
    }}"""
    found, outside, beside = geometry(act, zoom)
    assert len(found) == (5 * 7 if zoom else 8 * 9)
    assert all(cell == {"row": row, "col": col} and at == row for row, col, cell, at in found)
    assert outside == [None] * 4
    assert beside == [zoom["top"] if zoom else 0, None, None, None]  # a row's name belongs to it


@pytest.mark.parametrize(("shape", "size"), [((5, 12), (500, 400)), ((10, 14), (700, 420)), ((20, 30), (900, 500))])
def test_the_last_slanted_names_end_inside_the_box(geometry, shape, size) -> None:
    act = f"""({{ geometryOf, colLeft }}, [shape, size]) => {{
      const tile = ({TILE})(shape, null, "");
      const drawn = geometryOf({PEN}, tile, ({BOX})(size));
      const ends = tile.kind.cols.slice(-3).map((text, i) => {{
        const middle = colLeft(drawn, shape[1] - 3 + i) + drawn.cell.w / 2;
        return middle + Math.min(drawn.longest, 0.55 * 12 * text.length) * Math.cos(drawn.angle);
      }});
      return [drawn.angle, Math.max(...ends), drawn.box.x + drawn.box.w];
    }}"""
    angle, end, edge = geometry(act, [list(shape), list(size)])
    assert angle < 0
    assert end <= edge


def test_names_of_columns_lie_flat_where_they_fit_and_else_slant(geometry) -> None:
    act = f"""({{ geometryOf }}, widths) => widths.map((cols) =>
      geometryOf({PEN}, ({TILE})([6, cols], null, ""), ({BOX})([900, 600])).angle)"""
    few, more, many = geometry(act, [3, 20, 120])
    assert few == 0
    assert many < more < 0


@pytest.fixture(scope="module")
def window(module):
    return module("heads/js/map/zoom_window.js")


def test_a_window_fits_only_where_it_lies_on_the_map(window) -> None:
    act = "({ fitsZoom }, windows) => windows.map((zoom) => Boolean(fitsZoom(zoom, { nRows: 5, nCols: 7 })))"
    good = [[0, 5, 0, 7], [1, 2, 6, 7]]
    bad = [None, [], [0, 6, 0, 7], [0, 5, 0, 8], [2, 2, 0, 7], [3, 2, 0, 7], [-1, 5, 0, 7], [0, 1.5, 0, 7], [0, 5, 0]]
    assert window(act, good + bad) == [True] * len(good) + [False] * len(bad)


def test_the_whole_map_is_no_zoom(window) -> None:
    act = """({ zoomFor, zoomOf }) => {
      const kind = { kind: "cross", nRows: 5, nCols: 7 };
      const part = { top: 1, bottom: 4, left: 0, right: 7 };
      const app = { view: { kind: "cross", zoom: zoomFor(kind, part) } };
      const other = { ...kind, kind: "encoder_self" };
      const whole = { top: 0, bottom: 5, left: 0, right: 7 };
      return [zoomFor(kind, whole), app.view.zoom, zoomOf(app, kind), zoomOf(app, other).bottom];
    }"""
    none, part, back, others = window(act)
    assert none is None
    assert part == [1, 4, 0, 7]
    assert back == {"top": 1, "bottom": 4, "left": 0, "right": 7}
    assert others == 5, "only maps of the kind in focus are zoomed"


def test_the_window_follows_the_row_that_is_walked_to(window) -> None:
    act = "({ zoomWith }, rows) => rows.map((row) => zoomWith({ view: { zoom: [3, 6, 1, 4] } }, row))"
    assert window(act, [0, 3, 5, 6, 9]) == [[0, 3, 1, 4], [3, 6, 1, 4], [3, 6, 1, 4], [4, 7, 1, 4], [7, 10, 1, 4]]
    assert window("({ zoomWith }) => zoomWith({ view: { zoom: null } }, 2)") is None
