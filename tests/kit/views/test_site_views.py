"""What Anatomy and Implementations draw: tiles in their places, panels with their ranges, code that stays text."""

import numpy as np
import pandas as pd
import pytest

from attnviz.kit.views.charts import agreement_figure, cost_figure, histogram_figure, histogram_table, spectrum_figure
from attnviz.kit.views.code_tables import code_change, memory_cells, number_rows, source_diff, text_rows
from attnviz.kit.views.panels import Panel, panels_figure, panels_table
from attnviz.kit.views.tensor_picture import GAP, tensor_picture, tiles_of

BATCH, HEADS, ROWS, COLS = 2, 3, 5, 7


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize(
    "axes",
    [("batch", "heads", "q_len", "k_len"), ("q_len", "k_len", "batch", "heads"), ("batch", "q_len", "heads", "k_len")],
)
def test_sentences_and_heads_are_small_multiples_in_every_layout(axes: tuple[str, ...]) -> None:
    sizes = {"batch": BATCH, "heads": HEADS, "q_len": ROWS, "k_len": COLS}
    tensor = numbers(BATCH, HEADS, ROWS, COLS)
    order = [("batch", "heads", "q_len", "k_len").index(axis) for axis in axes]
    tiles = tiles_of(tensor.transpose(order), axes)
    assert tiles.numbers.shape == tuple(sizes.values())
    sheet = np.asarray(tensor_picture(tiles, title="x").data[0].z)
    assert sheet.shape == (2 * ROWS + GAP, 3 * COLS + 2 * GAP)
    assert np.array_equal(sheet[ROWS + GAP :, COLS + GAP : 2 * COLS + GAP], tensor[1, 1])
    assert np.isnan(sheet[ROWS]).all()


def test_without_heads_sentences_stand_side_by_side() -> None:
    figure = tensor_picture(tiles_of(numbers(BATCH, ROWS, COLS), ("batch", "q_len", "d_model")), title="x")
    assert np.asarray(figure.data[0].z).shape == (ROWS, 2 * COLS + GAP)
    assert [note.text for note in figure.layout.annotations] == ["sentence 0", "sentence 1"]


def test_too_many_cells_keep_one_head_and_say_so() -> None:
    tiles = tiles_of(np.zeros((2, 8, 100, 100), dtype=np.float32), ("batch", "heads", "q_len", "k_len"), head=5)
    assert tiles.heads == (5,)
    assert "H5" in tiles.note
    assert tiles.numbers.shape == (2, 1, 100, 100)


def test_a_tensor_picture_refuses_axes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="batch"):
        tiles_of(numbers(2, 3), ("rows", "cols"))


def test_a_hidden_cell_is_blank_and_weights_keep_their_range() -> None:
    tensor = numbers(1, 1, 2, 2)
    tensor[0, 0, 0, 1] = -np.inf
    heat = tensor_picture(tiles_of(tensor, ("batch", "heads", "q", "k")), title="x").data[0]
    assert np.isnan(np.asarray(heat.z)[0, 1])
    assert heat.zmin == -heat.zmax == -3
    heat = tensor_picture(tiles_of(tensor, ("batch", "heads", "q", "k")), title="x", weights=True).data[0]
    assert (heat.zmin, heat.zmax) == (0, 1)


def test_panels_state_their_ranges_and_escape_tokens() -> None:
    z = np.array([[0.25, 0.75]], dtype=np.float32)
    figure = panels_figure([Panel("own", z), Panel("Δ", z - 1, "signed")], ["<b>a</b>"], ["$x$", "c"], title="t")
    assert figure.layout.annotations[0].text == "own · 0 … 1"
    assert figure.layout.annotations[1].text == "Δ · ±0.75"
    assert "&lt;b&gt;" in figure.data[0].customdata[0, 0, 0]
    assert figure.data[1].zmin == -0.75


def test_panels_say_when_there_is_nothing_to_see() -> None:
    nan, nil = np.full((1, 1), np.nan), np.zeros((1, 1))
    figure = panels_figure([Panel("a", nan), Panel("b", nil, "signed")], ["r"], ["c"], title="t")
    assert [note.text for note in figure.layout.annotations] == ["a · NaN everywhere", "b · 0 in every cell"]


def test_a_cell_that_is_nan_is_crossed_and_not_taken_for_a_zero() -> None:
    z = np.array([[0.0, np.nan], [0.5, 0.5]], dtype=np.float32)
    figure = panels_figure([Panel("wrong", z)], ["a", "b"], ["a", "b"], title="t")
    assert figure.layout.annotations[0].text == "wrong · 0 … 1 · × is NaN"
    assert (list(figure.data[1].x), list(figure.data[1].y)) == ([1], [0])


def test_panels_as_a_table_have_a_line_for_each_cell() -> None:
    z = np.array([[0.25, 0.75], [1.0, 0.0]], dtype=np.float32)
    table = panels_table([Panel("right", z), Panel("Δ", -z, "signed")], ["a", "a"], ["a", "b"])
    assert table["row"].tolist() == [0, 0, 1, 1]
    assert table["key_position"].tolist() == [0, 1, 0, 1]
    assert table["key"].tolist() == ["a", "b", "a", "b"]
    assert table["right"].tolist() == [0.25, 0.75, 1, 0]
    assert table["Δ"].tolist() == [-0.25, -0.75, -1, 0]


def test_agreement_names_what_is_missing() -> None:
    grid = pd.DataFrame([[0.0, 1e-6], [1e-6, np.nan]], index=["a", "b"], columns=["a", "b"])
    heat = agreement_figure({"outputs": grid}, {"a": "A", "b": "B"}).data[0]
    assert [list(line) for line in heat.text] == [["0", "1e-06"], ["1e-06", "none"]]


def test_cost_has_a_line_for_each_way_and_measure() -> None:
    table = pd.DataFrame({"way": ["a", "a"], "length": [16, 32], "seconds": [0.001, 0.002], "nbytes": [1000, 2000]})
    time, memory = cost_figure(table, {"a": "A"}).data
    assert list(time.y) == [1, 2]
    assert list(memory.y) == [0.001, 0.002]


def test_histograms_share_their_edges_and_add_up_to_one() -> None:
    counted = {
        "x": {"a": np.array([0.0, 1.0]), "b": np.array([0.0, 4.0])},
        "y": {"a": np.array([9.0]), "b": np.array([9.5])},
    }
    figure, table = histogram_figure(counted, title="t"), histogram_table(counted)
    assert list(figure.data[0].x) == list(figure.data[1].x)
    assert list(figure.data[2].x) != list(figure.data[0].x), "another thing counted has edges of its own"
    assert sum(figure.data[0].y) == pytest.approx(1)
    assert table.groupby(["of", "group"])["share"].sum().tolist() == pytest.approx([1, 1, 1, 1])
    assert list(spectrum_figure([2.0, 1.0], 9).data[0].y) == [2, 1]


def test_differing_lines_are_marked_and_code_is_escaped() -> None:
    found = source_diff("a = 1\nb = x < y\n", "a = 1\nc = 3\nd = 4\n", ("one", "other"))
    assert found.count("class=differs") == 3
    assert "x &lt; y" in found
    assert "class=absent" in found


def test_a_change_stands_below_what_it_replaces() -> None:
    found = code_change("def f(x):\n    return x < 1\n", "def f(x):\n    return x > 1\n")
    assert found.count("class=differs") == 2
    assert found.index("x &lt; 1") < found.index("x &gt; 1")
    assert found.index("<tr class=right>") > found.index("x &lt; 1")


def test_rows_of_numbers_and_texts_are_escaped() -> None:
    assert "<td>1,000</td>" in number_rows({"<b>": [1, 1000]})
    assert "&lt;b&gt;" in number_rows({"<b>": [1]})
    assert "&lt;i&gt;" in text_rows({"a": "<i>"})


def test_cells_say_number_and_place() -> None:
    cells = memory_cells(np.array([[0, 2]]), np.array([[0, 1]]), ("a", "b"))
    assert "2<small>at 1</small>" in cells


def test_a_matrix_with_too_many_cells_is_thinned_and_its_band_stays_in_place() -> None:
    tiles = tiles_of(np.zeros((1, 400, 400), dtype=np.float32), ("batch", "out", "in"))
    assert tiles.step == 2
    assert tiles.numbers.shape == (1, 1, 200, 200)
    figure = tensor_picture(tiles, title="x", band=slice(100, 200))
    (band,) = figure.layout.shapes
    assert (band.y0, band.y1) == (49.5, 99.5)
    assert figure.data[0].customdata[-1, -1].tolist() == [0, 0, 398, 398]
