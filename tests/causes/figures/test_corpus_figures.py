"""The figures of many sentences show the numbers that they are given, and leave out what means nothing."""

import numpy as np
import pandas as pd
import pytest

from attnviz.causes.corpus.figures.scatter import (
    BINS,
    SYMBOLS,
    Axis,
    counts,
    distribution_figure,
    distribution_table,
    edges,
    head_scatter,
    pruning_chart,
    roles_figure,
)
from attnviz.causes.corpus.numbers.pruning import merged_seeds

HEADS = pd.DataFrame(
    {
        "kind": ["encoder_self", "encoder_self", "cross"],
        "layer": [0, 0, 1],
        "head": [0, 1, 2],
        "a": [1.0, np.nan, 3.0],
        "b": [5.0, 6.0, 7.0],
        "c": [np.nan, 2.0, 4.0],
    }
)
AXES = (Axis("a, bits", "a"), Axis("b", "b"), Axis("c", "c"))


def test_every_head_has_its_mark_and_knows_its_place() -> None:
    figure = head_scatter(HEADS, AXES, chosen=("cross", 1, 2))
    marks = {trace.name: trace for trace in figure.data}
    assert list(marks) == ["Encoder self", "Cross", "chosen"]
    assert [list(marks[name].x) for name in marks] == [[1.0], [3.0], [3.0]]
    assert list(marks["Cross"].customdata[0]) == ["cross", 1, 2, "L1 H2", "4"]
    assert marks["Encoder self"].customdata[0][4] == "nothing"  # it has no colour of its own
    assert len({SYMBOLS[kind] for kind in SYMBOLS}) == 3
    assert "1 heads without these measures are left out" in figure.layout.title.text


def test_what_is_not_measured_yet_leaves_marks_without_a_colour() -> None:
    figure = head_scatter(HEADS.drop(columns="c"), AXES)
    assert [len(trace.x) for trace in figure.data] == [1, 1]
    assert all(trace.customdata[0][4] == "nothing" for trace in figure.data)
    empty = head_scatter(HEADS.drop(columns="a"), AXES)
    assert len(empty.data) == 0
    assert "3 heads without" in empty.layout.title.text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_histograms_count_every_sentence_once(theme) -> None:
    of_all = np.array([[0.0, 1.0], [0.2, 0.4], [0.9, np.nan]])
    along = edges(of_all)
    assert (along[0], along[-1], len(along)) == (0.0, 1.0, BINS + 1)
    assert counts(of_all[:, 0], along).sum() == 3
    measures = {"known": (of_all[:, 0], along), "nothing": (np.full(3, np.nan), along)}
    figure = distribution_figure(measures, title="", theme=theme)
    assert [sum(trace.y) for trace in figure.data] == [3]  # what means nothing is left out
    assert distribution_table(measures).groupby("measure")["sentences"].sum().to_dict() == {"known": 3, "nothing": 0}


def test_measures_that_are_all_the_same_have_a_bin() -> None:
    along = edges(np.full((4, 2), 0.5))
    assert counts(np.full(4, 0.5), along).sum() == 4
    assert len(edges(np.full(3, np.nan))) == BINS + 1


def test_roles_stand_beside_chance() -> None:
    shares = pd.DataFrame({"role": ["first", "second"], "share": [0.25, 0.75], "by lot": [0.5, 0.5]})
    bars, lot = roles_figure(shares, title="").data
    assert dict(zip(bars.y, bars.x, strict=True)) == {"first": 0.25, "second": 0.75}
    assert list(lot.x) == [0.5, 0.5]


def test_the_curve_has_a_line_an_order_and_its_interval() -> None:
    names = ("log_probability", "log_probability_low", "log_probability_high", "bleu", "bleu_low", "bleu_high")
    rows = [
        (
            *(order, removed),
            *(shift - removed + bound for bound in (0, -1, 1)),
            *(50 - removed + bound for bound in (0, -2, 2)),
        )
        for order, shift in (("greedy", 0.0), ("random, seed 0", 1.0), ("random, seed 1", 3.0))
        for removed in (0, 4)
    ]
    table = merged_seeds(pd.DataFrame(rows, columns=["order", "removed", *names]))
    figure = pruning_chart(table, title="")
    lines = {(trace.name, trace.xaxis): trace for trace in figure.data if trace.mode == "lines+markers"}
    random = lines["random, mean of 2 seeds", "x"]
    assert list(random.y) == [2.0, -2.0]
    assert random.customdata.tolist() == [[1.0, 3.0], [-3.0, -1.0]]  # from the worst seed to the best
    assert list(lines["greedy", "x2"].y) == [50, 46]
    without = table.assign(bleu=np.nan)
    assert {trace.xaxis for trace in pruning_chart(without, title="").data} == {"x"}
