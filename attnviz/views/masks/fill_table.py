"""The table of all fills as HTML: a finding wraps and is read to its end, which a grid of cells does not do."""

import html
import math
from collections.abc import Mapping, Sequence

import pandas as pd

from attnviz.views.terms import term, term_if_known

# Each column's title, and the word that it is asked for by.
COLUMNS = {
    "fill": "Fill", "value": "value", "weights": "Weights", "sum": "sum", "masked": "masked", "finding": "finding"
}  # fmt: skip


def fill_table(table: pd.DataFrame, names: Mapping[str, str], *, row: str) -> str:
    """One row of attention under every fill, a group of lines for each dtype in the table's order.

    `table` has columns fill, dtype, fill value, weights, sum, masked weight, finding; where torch refused, no weights.
    `names` are the fills' names, `row` says which row it is. Every text is escaped here.
    """
    head = "".join(f"<th scope='col'>{term(word, name)}</th>" for name, word in COLUMNS.items())
    groups = "".join(_group(dtype, part, names) for dtype, part in table.groupby("dtype", sort=False))
    caption = f"{html.escape(row)} under every fill. “masked” is the total weight of masked keys"
    return f"<table class='fills'><caption>{caption}</caption><thead><tr>{head}</tr></thead>{groups}</table>"


def _group(dtype: object, part: pd.DataFrame, names: Mapping[str, str]) -> str:
    title = f"<tr><th scope='rowgroup' colspan='{len(COLUMNS)}'>{html.escape(str(dtype))}</th></tr>"
    return f"<tbody>{title}{''.join(_line(line, names) for line in part.to_dict('records'))}</tbody>"


def _line(line: Mapping, names: Mapping[str, str]) -> str:
    shown = isinstance(line["weights"], Sequence)
    numbers = [_number(line["sum"], ".6f"), _number(line["masked weight"], ".3g")] if shown else ["–", "–"]
    cells = (line["fill value"], *numbers, line["finding"])
    value, total, masked, finding = (html.escape(str(cell)) for cell in cells)
    return (
        f"<tr><th scope='row'>{term_if_known(names[line['fill']])}</th>"
        f"<td>{value}</td>"
        f"<td>{bars(line['weights']) if shown else ''}</td><td>{total}</td><td>{masked}</td><td>{finding}</td></tr>"
    )


def _number(value: float, form: str) -> str:
    return "NaN" if math.isnan(value) else f"{value:{form}}"


def bars(weights: Sequence[float]) -> str:
    """A bar for each key on a scale from 0 to 1: one element, cut into its shape, however many there are.

    Streamlit lets no SVG through.
    """
    step = 100 / len(weights)
    corners = [
        f"{x:.2f}% {y:.2f}%"
        for index, weight in enumerate(weights)
        for x, y in _bar((index + 0.1) * step, (index + 0.9) * step, 100 - 100 * weight)
    ]
    shape = f"clip-path:polygon({','.join(corners)})"
    return f"<span class='bars' title='weights over the keys'><i style='{shape}'></i></span>"


def _bar(left: float, right: float, top: float) -> list[tuple[float, float]]:
    return [(left, 100), (left, top), (right, top), (right, 100)]
