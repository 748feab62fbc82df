"""The three answers that a row without keys gets, beside each other, each with its reason."""

import html
from collections.abc import Mapping

import pandas as pd

from attnviz.views.masks.fill_table import bars
from attnviz.views.terms import term_if_known

# Each answer's fill, and whose code gives it.
ANSWERS = {
    "-inf": "labml's mha.py, and nn.MultiheadAttention when its weights are asked for",
    "-1e9": "the Annotated Transformer, and most code based on it",
    "fused": "scaled_dot_product_attention, and attnviz",
}


def three_answers(table: pd.DataFrame, names: Mapping[str, str], *, row: str) -> str:
    """Cards of the fills that part where no key is left; `table` is that of one row and one dtype.

    `names` are the fills' names, `row` says which row it is. Every text is escaped here.
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
