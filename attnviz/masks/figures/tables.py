"""HTML tables of the Masks page: fills, next tokens and small matrices. Unlike in a data grid, long texts wrap.

Every text is escaped here.
"""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from attnviz.kit.views.terms import term, term_if_known

Numbers = Sequence[Sequence[float]]

MOST_CELLS = 32  # maximum rows or columns that are drawn
MOST = 5
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


@dataclass(frozen=True)
class RunColumn:
    """A run's column in the table: its name, its description, and its most probable tokens as (text, probability).

    `candidates` is empty if the probabilities of the run are NaN.
    """

    name: str
    says: str
    candidates: Sequence[tuple[str, float]]


def next_tokens_table(ways: Sequence[RunColumn]) -> str:
    """Return a table with two columns for each run. All texts are escaped here."""
    heads = "".join(
        f"<th scope='colgroup' colspan='2'><b>{term_if_known(way.name)}</b><small>{html.escape(way.says)}</small></th>"
        for way in ways
    )
    lines = "".join(f"<tr>{''.join(_cells(way, place) for way in ways)}</tr>" for place in range(MOST))
    return f"<table class='next-tokens'><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _cells(way: RunColumn, place: int) -> str:
    if not way.candidates:
        return "<td>NaN</td><td></td>" if place == 0 else "<td></td><td></td>"
    if place >= len(way.candidates):
        return "<td></td><td></td>"
    text, chance = way.candidates[place]
    return f"<td>{html.escape(text)}</td><td class='p' style='background-size:{chance:.1%} 3px'>{chance:.4f}</td>"


def matrix(name: str, values: Numbers, *, rows: Sequence[str] = (), quiet: Sequence[tuple[int, int]] = ()) -> str:
    """Draw a matrix with a title and row names; the cells in `quiet` (row, column) look masked."""
    body = "".join(
        "<tr>"
        + (f"<th>{html.escape(rows[row])}</th>" if rows else "")
        + "".join(_cell(value, masked=(row, column) in quiet) for column, value in enumerate(line))
        + "</tr>"
        for row, line in enumerate(values)
    )
    return f"<figure class='matrix'><figcaption>{html.escape(name)}</figcaption><table>{body}</table></figure>"


def equation(*parts: str) -> str:
    """Draw an equation of matrices and signs on one line, as HTML."""
    return (
        "<div class='equation' tabindex='0'>"
        + "".join(part if part.startswith("<") else f"<span class='sign'>{html.escape(part)}</span>" for part in parts)
        + "</div>"
    )


def vector(name: str, values: Sequence[float], *, rest: int = 0, changed: bool = False) -> str:
    """Draw a vector on one line. `rest` is the number of values not shown, and `changed` highlights the vector."""
    shown = "  ".join(format_number(value) for value in values) + (f"  … {rest} more" if rest > 0 else "")
    kind = " changed" if changed else ""
    return f"<div class='vector{kind}'><span>{html.escape(name)}</span><code>{html.escape(shown)}</code></div>"


def cells(mask: Sequence[Sequence[bool]], *, labels: Sequence[str] = (), note: str = "") -> str:
    """Draw a mask as a small picture: visible cells are filled, masked cells hatched.

    Of a mask with more than `MOST_CELLS` rows or columns only the first ones are drawn, and the note says so.
    """
    if max(len(mask), *map(len, mask)) > MOST_CELLS:
        mask = [line[:MOST_CELLS] for line in mask[:MOST_CELLS]]
        note = f"{note}; its first {MOST_CELLS} rows and columns are drawn"
    lines = "".join(
        "<tr>" + "".join(f"<td class='{'sees' if seen else 'masked'}'></td>" for seen in line) + "</tr>"
        for line in mask
    )
    title = f" title='{html.escape(', '.join(labels), quote=True)}'" if labels else ""
    return f"<figure class='cells'{title}><table>{lines}</table><figcaption>{html.escape(note)}</figcaption></figure>"


def format_number(value: float) -> str:
    """Format a number with four decimals and a real minus sign."""
    if math.isnan(value):
        return "NaN"
    return f"{value:.4f}".replace("-", "−") if abs(value) < 1e4 else f"{value:.3g}".replace("-", "−")


def _cell(value: float, *, masked: bool) -> str:
    return f"<td{' class=masked' if masked else ''}>{format_number(value)}</td>"
