"""Figures of a mask's effect: what they hold, and what they leave blank."""

import numpy as np
import pandas as pd
import pytest

from attnviz.masks.figures.figures import leak_figure, leak_table, moved_figure
from attnviz.masks.figures.tables import cells, format_number, matrix, vector
from tests.each_case import each_case


def test_every_kind_has_its_grid_of_layers_and_heads() -> None:
    rows = [
        {"kind": kind, "layer": layer, "head": head, "moved": layer + head / 10, "largest": 0.5}
        for kind in ("encoder_self", "cross")
        for layer in range(2)
        for head in range(3)
    ]
    figure = moved_figure(pd.DataFrame(rows))
    assert len(figure.data) == 2
    np.testing.assert_allclose(figure.data[1].z, [[0, 0.1, 0.2], [1, 1.1, 1.2]], atol=1e-6)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)


def test_a_map_that_became_nan_is_grey_and_not_blank() -> None:
    rows = [
        {"kind": "cross", "layer": 0, "head": head, "moved": moved, "largest": moved}
        for head, moved in enumerate([0.0, np.nan, 0.5])
    ]
    moved, nan = moved_figure(pd.DataFrame(rows)).data
    np.testing.assert_array_equal(moved.z, np.array([[0, np.nan, 0.5]], dtype=np.float32))
    np.testing.assert_array_equal(nan.z, np.array([[np.nan, 1, np.nan]], dtype=np.float32))


@each_case("layers", [[3, 3, 3], [12], [2, 4], [24, 24, 24]])
def test_every_layer_has_its_share_of_the_height(layers: list[int]) -> None:
    kinds = ("encoder_self", "decoder_self", "cross")
    rows = [
        {"kind": kind, "layer": layer, "head": head, "moved": 0.1, "largest": 0.1}
        for kind, count in zip(kinds, layers, strict=False)
        for layer in range(count)
        for head in range(2)
    ]
    layout = moved_figure(pd.DataFrame(rows)).layout
    names = ["yaxis", "yaxis2", "yaxis3"][: len(layers)]
    shares = [layout[name].domain[1] - layout[name].domain[0] for name in names]
    assert shares == pytest.approx([shares[0] * count / layers[0] for count in layers])
    assert layout.height < 800


def test_what_did_not_change_by_a_bit_is_blank_and_says_so() -> None:
    change = np.array([[0.0, 0.0, 2.0], [0.0, 0.01, 1.0]])
    figure = leak_figure([("with", change), ("without", change + 1)], ["<b>", "b", "c"], 2)
    assert np.isnan(figure.data[0].z).tolist() == [[True, True, False], [True, False, False]]
    assert figure.data[0].z[1, 1] == pytest.approx(-2)
    assert figure.data[0].customdata[0][0].tolist() == ["0, bitwise equal", "&lt;b&gt;"]


@each_case(("length", "position"), [(40, 0), (40, 18), (40, 39), (300, 299), (1, 0)])
def test_names_of_a_long_target_do_not_meet_and_the_replaced_token_is_named(length: int, position: int) -> None:
    tokens = [f"t{place}" for place in range(length)]
    change = np.ones((2, length))
    axis = leak_figure([("with", change), ("without", change)], tokens, position).layout.xaxis
    assert len(axis.tickvals) <= 21
    assert position in axis.tickvals
    assert list(axis.ticktext) == [tokens[place] for place in axis.tickvals]


def test_the_leaks_numbers_are_a_table_with_a_row_for_every_cell() -> None:
    change = np.array([[0.0, 2.0], [0.5, 1.0]])
    table = leak_table([("with", change), ("without", change + 1)], ["a", "b"])
    assert len(table) == 8
    assert table.iloc[2].tolist() == ["with", "L0", 0, "a", 0.5]
    assert table.iloc[-1].tolist() == ["without", "L0", 1, "b", 2.0]


@pytest.mark.parametrize("draw", [lambda: moved_figure(pd.DataFrame({"kind": []}), theme="sepia")])
def test_an_unknown_theme_is_a_clear_error(draw) -> None:
    with pytest.raises(ValueError, match="light"):
        draw()


def test_tokens_are_never_markup() -> None:
    drawn = (
        matrix("<i>", [[1.0]], rows=["<b>x</b>"]) + vector("<u>", [1.0]) + cells([[True]], labels=["\"'<"], note="<s>")
    )
    assert not any(tag in drawn for tag in ("<i>", "<b>", "<u>", "<s>"))


def test_numbers_have_four_decimals_and_a_real_minus() -> None:
    assert [format_number(value) for value in (-0.5, 1.0, float("nan"))] == ["−0.5000", "1.0000", "NaN"]
