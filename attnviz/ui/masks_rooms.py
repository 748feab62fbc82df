"""The laboratory's smaller rooms: all fills on one row, and how a mask broadcasts."""

import pandas as pd
import streamlit as st

from attnviz.analysis.broadcast import attempts, axes
from attnviz.analysis.fill_findings import comparison
from attnviz.text.glossary import MASKS
from attnviz.ui import figure
from attnviz.ui.choices import pick
from attnviz.ui.masks_controls import FILL_NAMES
from attnviz.ui.masks_lab import Bench
from attnviz.ui.masks_shut import reopen, telling_row
from attnviz.views.fill_table import fill_table
from attnviz.views.matrices import cells
from attnviz.views.three_answers import three_answers


def fills(bench: Bench) -> None:
    """Every fill in every dtype on the same row; where it sees no key, the three answers first."""
    rows, row = bench.rows, telling_row(bench)
    named = [f"{at}: {' → '.join(filter(None, names))}" for at, names in enumerate(rows)]
    pick("row", "Row", range(len(rows)), row, named.__getitem__, means=MASKS["Row"])
    table = comparison(bench.call, bench.mask, row, bench.view.number)
    # The dtype in force comes first: its fills are in view at once.
    table = table.sort_values("dtype", key=lambda names: names != bench.view.dtype, kind="stable")
    if not bool(bench.mask[row].any()):
        in_force = table.loc[table["dtype"] == bench.view.dtype]
        st.html(three_answers(in_force, FILL_NAMES, row=f"Row {row}"))
        reopen(bench, row)
    st.html(fill_table(table, FILL_NAMES, row=f"Row {row}"))
    figure.numbers("fills", lambda: table.assign(fill=table["fill"].map(FILL_NAMES.get)))


def broadcast(bench: Bench) -> None:
    """Where a mask gets its head axis, drawn on this sentence; and what torch says without it."""
    batch, heads = bench.trace.call(bench.view.kind, bench.view.layer).query.shape[:2]
    q_len, k_len = bench.shape
    combined = bench.recipe.build(q_len, k_len, real=bench.real)
    st.html("<div class='broadcast'>" + _drawn(bench, combined, (batch, heads, q_len, k_len)) + "</div>")
    table = [
        {"code": one.code, "result": "raises" if one.shape is None else axes(one.shape), "what happens": one.said}
        for one in attempts(combined.expand(batch, q_len, k_len), (batch, heads, q_len, k_len))
    ]
    st.table(pd.DataFrame(table).set_index("code"))  # wraps: torch's sentence is read to its end
    st.caption(
        f"unsqueeze(1) puts an axis of size 1 before axis 1: {axes((batch, q_len, k_len))} becomes "
        f"{axes((batch, 1, q_len, k_len))}, and broadcasting repeats it for all {heads} heads without copying. "
        "A negative number counts from the end: unsqueeze(-1) puts it last. With a batch of one, unsqueeze(0) happens "
        "to fit as well: let a second sentence join the batch and see."
    )


def _drawn(bench: Bench, combined, shape: tuple[int, int, int, int]) -> str:
    batch, heads, q_len, k_len = shape
    keys = cells(bench.real.tolist(), note=f"padding {axes((batch, 1, k_len))}: which keys are real, for every query")
    rules = {name: numbers for name, numbers in bench.recipe.rules.items() if name != "padding"}
    plain = type(bench.recipe)(rules, bench.recipe.painted).build(q_len, k_len)
    pattern = cells(plain[0].tolist(), note=f"rules and paint {axes((1, q_len, k_len))}: the same for every sentence")
    items = "".join(
        cells(one.tolist(), note=f"sentence {index}, heads 0 to {heads - 1}") for index, one in enumerate(combined)
    )
    joined = f"<figure class='group'>{items}<figcaption>& and unsqueeze(1): {axes((len(combined), 1, q_len, k_len))}, "
    joined += f"broadcast to {axes(shape)}</figcaption></figure>"
    first = [keys, "<span class='sign'>&amp;</span>"] if "padding" in bench.recipe.rules else []
    return "".join([*first, pattern, "<span class='sign'>→</span>", joined])
