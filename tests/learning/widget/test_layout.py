"""Where maps and curves are: every head has its place, curves are inside, and a point of them is its update."""

import itertools

import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER


def kinds(*shapes: tuple[int, int]) -> list[dict]:
    return [{"kind": str(at), "layers": layers, "heads": heads} for at, (layers, heads) in enumerate(shapes)]


@each_case(
    ("shapes", "size"),
    [
        *itertools.product(
            [[(1, 2)] * 3, [(2, 2)], [(1, 4)] * 3, [(2, 4), (2, 4), (2, 4)]], [[360, 520], [440, 300], [900, 260]]
        )
    ],
)
def test_every_head_has_a_place_that_fits(module, shapes, size) -> None:
    script = module("learning/widget/js/grid.js")
    act = "(script, [kinds, size]) => { const { side, rows } = script.gridOf(kinds, size);"
    act += " return [side, rows.map((row) => row.map((site) => site && [site[0].kind, site[1], site[2]]))]; }"
    side, rows = script(act, [kinds(*shapes), size])
    sites = [tuple(site) for row in rows for site in row if site]
    assert len(sites) == len(set(sites)) == sum(layers * heads for layers, heads in shapes)
    assert side * len(rows[0]) <= size[0]
    assert (side + 16 + 29) * len(rows) <= size[1]
    if len({heads for _, heads in shapes}) == 1 and len(shapes) == 3 and shapes[0] == (1, 2) and size == [440, 300]:
        assert len(rows) == 2, "kinds beside each other, heads below"


def test_a_map_keeps_its_shape(module) -> None:
    script = module("learning/widget/js/grid.js")
    assert script("(script) => script.sizeOf({ nRows: 4, nCols: 8 }, 80)") == [40, 80]
    assert script("(script) => script.sizeOf({ nRows: 8, nCols: 4 }, 80)") == [80, 40]


def test_curves_are_inside_and_a_point_of_them_is_its_update(module) -> None:
    script = module("learning/widget/js/curves.js")
    run = {"about": {"guess": 4.45, "updates": 1500}, "moments": [{"loss": None}, {"loss": 5.2}, {"loss": 0.0}]}
    act = """(script, [run, size]) => { const place = script.curveGeometry(run, size);
      return { ...place, ends: [place.x(0), place.x(1500)], losses: [place.yLoss(5.2), place.yLoss(0)],
        shares: [place.yShare(1), place.yShare(0)], steps: [0, 700, 1500].map((s) => place.stepAt(place.x(s))) }; }"""
    found = script(act, [run, [460, 150]])
    assert found["ends"] == [found["left"], found["right"]]
    assert found["top"] < found["losses"][0] < found["losses"][1] == found["bottom"]
    assert found["shares"] == [found["top"], found["bottom"]]
    assert found["steps"] == pytest.approx([0, 700, 1500])
