"""Maps side by side: what a long one still has room for."""

import numpy as np

from attnviz.kit.views.panels import Panel, panels_figure


def test_names_of_a_long_map_have_room() -> None:
    names = [f"n{place}" for place in range(101)]
    figure = panels_figure([Panel("right", np.zeros((101, 101)))], names, names, title="t")
    assert 8 < len(figure.layout.yaxis.tickvals) == len(figure.layout.xaxis.tickvals) <= 17
    assert figure.layout.yaxis.ticktext[1] == names[figure.layout.yaxis.tickvals[1]]
    assert figure.layout.height >= 17 * 14
    assert {(heatmap.xgap, heatmap.ygap) for heatmap in figure.data} == {(0, 0)}, "gaps would hide such small cells"
