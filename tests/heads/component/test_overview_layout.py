"""Every head has one place among the thumbnails, as large as there is room for."""

import itertools

import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

LAYOUT = """([layers, heads, size, sort, values]) => {
  const kind = { kind: "cross", layers, heads, nRows: 8, nCols: 9 };
  const metrics = { values: { cross: values ? { entropy: values } : {} } };
  const app = { view: { sort, tint: "none", layer: 0, head: 0 }, payload: { header: { metrics } } };
  app.layout = overviewLayout(app, kind, size);
  return app;
}"""
HEADS = [(1, 1), (2, 5), (6, 8), (12, 12), (24, 16), (1, 20)]
SIZES = [(360, 330), (560, 420), (900, 300)]


@pytest.fixture(scope="module")
def layout(module):
    script = module("heads/js/overview/layout.js")
    return lambda act, given: script(
        f"({{ overviewLayout, neighbour }}, given) => {{ const laid = {LAYOUT}; return ({act})(given); }}", given
    )


def all_sites(layers: int, heads: int) -> set[tuple]:
    across = [*range(heads), *(["mean"] if heads > 1 else [])]
    return set(itertools.product([*range(layers), *(["mean"] if layers > 1 else [])], across))


@each_case("heads", HEADS)
def test_every_head_and_every_mean_has_one_cell_and_the_grid_fits(layout, heads) -> None:
    for size in SIZES:
        drawn = layout("(given) => laid(given).layout", [*heads, list(size), "layout", None])
        sites = [tuple(site) for row in drawn["rows"] for site in row]
        assert len(sites) == len(set(sites))
        assert set(sites) == all_sites(*heads)
        columns, least = len(drawn["rows"][0]), 13
        assert drawn["w"] >= least
        assert drawn["h"] >= least
        wide = columns * (drawn["w"] + 2 + drawn["gap"])
        assert wide <= size[0] or drawn["w"] == least, size


def test_sorted_heads_run_from_the_largest_number_and_those_without_come_last(layout) -> None:
    values = [0.3, None, 0.9, 0.3, -1, 0.5]
    rows = layout("(given) => laid(given).layout.rows", [2, 3, [500, 400], "entropy", values])
    sites = [tuple(site) for row in rows for site in row]
    assert sites == [(0, 2), (1, 2), (0, 0), (1, 0), (1, 1), (0, 1)]
    assert len({len(row) for row in rows[:-1]}) <= 1


def test_what_is_no_metric_of_the_kind_sorts_nothing(layout) -> None:
    drawn = layout("(given) => laid(given).layout", [2, 3, [500, 400], "entropy", None])
    assert {tuple(site) for row in drawn["rows"] for site in row} == all_sites(2, 3)


def test_a_step_goes_to_the_neighbour_and_stops_at_the_edge(layout) -> None:
    act = """(given) => {
      const app = laid(given);
      const walk = (layer, head, step) => neighbour({ ...app, view: { layer, head } }, step);
      const steps = [[0, 1], [0, -1], [1, 0]].map((step) => walk(0, 0, step));
      return [app.layout.turned ?? false, ...steps, walk("mean", "mean", [1, 1])];
    }"""
    turned, right, left, down, corner = layout(act, [3, 3, [400, 400], "layout", None])
    assert right == ([1, 0] if turned else [0, 1])
    assert left == [0, 0]
    assert down == ([0, 1] if turned else [1, 0])
    assert corner == ["mean", "mean"]
