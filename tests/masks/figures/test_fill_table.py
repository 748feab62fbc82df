"""The table of all fills: groups, refusals, bars, and no markup from a name."""

import re

import pandas as pd

from attnviz.masks.figures.tables import fill_table


def table() -> pd.DataFrame:
    common = {"fill value": "−∞", "sum": 1.0, "masked weight": 0.25}
    return pd.DataFrame(
        [
            {"fill": "a", "dtype": "float16", **common, "weights": [0.75, 0.25], "finding": "leaks <b>"},
            {"fill": "b", "dtype": "float16", "fill value": "(refused)", "finding": "torch refuses"},
            {"fill": "a", "dtype": "float32", **common, "sum": float("nan"), "weights": [0.0, 0.0], "finding": "NaN"},
        ]
    )


def lines(drawn: str) -> list[str]:
    """Return the text of each line, cells parted by |."""
    rows = re.findall("<tr>(.*?)</tr>", drawn)
    return [re.sub("<[^>]*>", "", re.sub("</t[dh]>(?=.)", "|", row)) for row in rows]


def test_each_dtype_has_its_group_in_the_tables_order() -> None:
    drawn = fill_table(table(), {"a": "A", "b": "B"}, row="Row 2")
    assert lines(drawn) == [
        "fill|value|weights|sum|masked|finding",
        "float16",
        "A|−∞||1.000000|0.25|leaks &lt;b&gt;",
        "B|(refused)||–|–|torch refuses",
        "float32",
        "A|−∞||NaN|0.25|NaN",
    ]
    assert "<caption>Row 2 under every fill" in drawn


def test_a_bar_is_as_high_as_its_weight() -> None:
    drawn = fill_table(table()[:1], {"a": "A"}, row="Row 0")
    heights = [100 - float(y) for y in re.findall(r"[\d.]+% ([\d.]+)%", drawn)]
    assert heights == [0, 75, 75, 0, 0, 25, 25, 0]


def test_names_are_never_markup() -> None:
    assert "<i>x" not in fill_table(table()[:1], {"a": "<i>x</i>"}, row="<i>x")
