"""HTML table of one attention row under every fill, and cards with the three possible results for a row without keys.

HTML is used because its cells wrap long findings, which a data grid does not.
"""

import html
import math
from collections.abc import Mapping, Sequence

import pandas as pd

from attnviz.kit.views.terms import term, term_if_known

# Term of each column -> its title.
COLUMNS = {
    "fill": "Fill", "value": "value", "weights": "Weights", "sum": "sum", "masked": "masked", "finding": "finding"
}  # fmt: skip
# Fill of each result -> the code that uses it.
ANSWERS = {
    "-inf": "labml's mha.py, and nn.MultiheadAttention when its weights are asked for",
    "-1e9": "the Annotated Transformer, and most code based on it",
    "fused": "scaled_dot_product_attention, and attnviz",
}


def fill_table(table: pd.DataFrame, names: Mapping[str, str], *, row: str) -> str:
    """Return an HTML table of one attention row under every fill, with a group of lines for each dtype.

    `table` has the columns fill, dtype, fill value, weights, sum, masked weight, finding; it has no weights if torch
    refused. `names` are the fills' names, and `row` is the name of the row. All texts are escaped here.
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


def bars(weights: Sequence[float], *, title: str = "weights over the keys") -> str:
    """Draw a bar for each key, from 0 to 1, as one HTML element with a clip-path.

    `title` is plain text. It is not SVG, because Streamlit removes SVG.
    """
    step = 100 / len(weights)
    corners = [
        f"{x:.2f}% {y:.2f}%"
        for index, weight in enumerate(weights)
        for x, y in _bar((index + 0.1) * step, (index + 0.9) * step, 100 - 100 * weight)
    ]
    shape = f"clip-path:polygon({','.join(corners)})"
    return f"<span class='bars' title='{title}'><i style='{shape}'></i></span>"


def _bar(left: float, right: float, top: float) -> list[tuple[float, float]]:
    return [(left, 100), (left, top), (right, top), (right, 100)]


def three_answers(table: pd.DataFrame, names: Mapping[str, str], *, row: str) -> str:
    """Return HTML cards that show how three fills treat a row without keys.

    `table` has one row of attention in one dtype. `names` are the fills' names, and `row` is the name of the row. All
    texts are escaped here.
    """
    lines = {line["fill"]: line for line in table.to_dict("records")}
    cards = "".join(_card(lines[fill], names[fill], whose) for fill, whose in ANSWERS.items())
    title = f"{html.escape(row)} has no key left. What is its attention? There are three answers:"
    return (
        f"<section aria-label='Three answers'><h4 class='room'>{title}</h4><div class='answers'>{cards}</div></section>"
    )


def _card(line: Mapping, name: str, whose: str) -> str:
    shown = isinstance(line["weights"], list)
    picture = bars(line["weights"]) if shown and line["sum"] == line["sum"] else "<span class='bars'></span>"
    answer, finding = _answer(line) if shown else "refused", html.escape(str(line["finding"]))
    return (
        f"<article><h5>{term_if_known(name)}: {answer}</h5>{picture}<p>{finding}</p><small>Used by "
        f"{html.escape(whose)}.</small></article>"
    )


def _answer(line: Mapping) -> str:
    total, least, most = line["sum"], line["smallest"], line["largest"]
    if total != total:
        return "NaN"
    if total == 0:
        return "zeros"
    return f"uniform, {most:.4g} each" if least == most else f"sums to {total:.4g}"
