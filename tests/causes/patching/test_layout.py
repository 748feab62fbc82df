"""Where the matrices of patches are: every cell is found under its own middle, and its name is what links call it."""

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

ACT = """(script, [header, width]) => {
  const layout = script.layoutOf(header, width);
  const found = layout.blocks.map((block) => {
    const at = script.cellAt(layout, [block.x + (block.cols - 0.5) * block.w, block.y + (block.rows - 0.5) * block.h]);
    return [at[0] === block, at[1], at[2]];
  });
  const overlaps = layout.blocks.flatMap((one, i) => layout.blocks.slice(i + 1).filter((other) =>
    one.x < other.x + other.cols * other.w && other.x < one.x + one.cols * one.w &&
    one.y < other.y + other.rows * other.h && other.y < one.y + one.rows * one.h));
  const names = layout.blocks.map((block) => block.name);
  return { found, overlaps: overlaps.length, between: script.cellAt(layout, [1, 1]), names };
}"""


@each_case("width", [330, 700, 1100])
@each_case("tokens", [5, 13, 256])
def test_every_cell_is_found_and_no_matrix_lies_over_another(module, tokens: int, width: int) -> None:
    sizes = [((4, tokens), -1), ((4, tokens + 3), -1), ((3, 8), 0), ((12, 12), 0)]
    header = {"matrices": [{"size": list(size), "first_layer": first} for size, first in sizes]}
    told = module("causes/patching/js/layout.js")(ACT, [header, width])
    ends = [(rows - 1, cols - 1) for (rows, cols), _ in sizes for _ in range(2)]
    assert [tuple(found) for found in told["found"]] == [(True, *end) for end in ends]
    assert told["names"] == ["share", "moved"] * 4
    assert told["overlaps"] == 0
    assert told["between"] is None


def test_a_cells_name_is_the_one_in_links(module) -> None:
    script = module("causes/patching/js/choice.js")
    act = "(script, [where, first_layer, row, col]) => script.nameOf({ where, first_layer }, row, col)"
    assert script(act, ["encoder", -1, 0, 4]) == "encoder.e.4"
    assert script(act, ["encoder", -1, 3, 4]) == "encoder.2.4"
    assert script(act, ["cross", 0, 1, 3]) == "cross.1.3"
