"""Figures of a mask's effect: what they hold, and what they leave blank."""

import numpy as np
import pandas as pd
import pytest

from attnviz.views.mask_figures import leak_figure, leak_table, moved_figure
from attnviz.views.matrices import cells, matrix, number, vector


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


def test_what_did_not_change_by_a_bit_is_blank_and_says_so() -> None:
    change = np.array([[0.0, 0.0, 2.0], [0.0, 0.01, 1.0]])
    figure = leak_figure([("with", change), ("without", change + 1)], ["<b>", "b", "c"], 2)
    assert np.isnan(figure.data[0].z).tolist() == [[True, True, False], [True, False, False]]
    assert figure.data[0].z[1, 1] == pytest.approx(-2)
    assert figure.data[0].customdata[0][0].tolist() == ["0, bitwise equal", "&lt;b&gt;"]


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
    assert [number(value) for value in (-0.5, 1.0, float("nan"))] == ["−0.5000", "1.0000", "NaN"]
