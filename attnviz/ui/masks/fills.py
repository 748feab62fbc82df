"""The tab Fills: every fill on one row, and a row that is painted shut, so that it sees no key."""

import streamlit as st
import torch

from attnviz.analysis.masks.mask_spec import fit_mask
from attnviz.pictures.mask_lab import FILL_NAMES
from attnviz.pictures.mask_tabs.fills import answers, every_fill, lines, pinned_row, telling_row
from attnviz.text.glossary import definitions
from attnviz.ui import charts
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import select
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.widgets.mask_lab.painting import painting_to_text


def fills(bench: MaskExperiment) -> None:
    """Draw the tab Fills: every fill in every dtype on the same row; where it sees no key, the three answers first."""
    rows, row = bench.rows, telling_row(bench)
    named = [f"{at}: {' → '.join(filter(None, names))}" for at, names in enumerate(rows)]
    select("row", "Row", range(len(rows)), row, named.__getitem__, means=definitions("Masks")["Row"])
    table = every_fill(bench, row)
    if found := answers(bench, table, row):
        st.html(found)
        _reopen(bench, row)
    st.html(lines(table, row))
    charts.numbers("fills", lambda: table.assign(fill=table["fill"].map(FILL_NAMES.get)))


def preset(bench: MaskExperiment) -> None:
    """Draw a button that paints a row shut and opens the tab that lists its outcomes."""
    row = pinned_row(bench)
    row = min(2, bench.shape[0] - 1) if row is None else row
    st.button(
        "A row without keys",
        key="row-without-keys",
        width="stretch",
        on_click=_show,
        args=(_paint_row(bench, row, sees=False), row),
    )


def _reopen(bench: MaskExperiment, row: int) -> None:
    """Draw a button that takes the row's paint away, where paint shuts it."""
    if bool(bench.rules[row].any()):
        paint = _paint_row(bench, row, sees=True)
        st.button("Show the row's keys again", key="row-with-keys", on_click=_show, args=(paint, row))


def _paint_row(bench: MaskExperiment, row: int, *, sees: bool) -> str:
    """Change a whole row of the paint; return it as text."""
    before = bench.recipe.painted
    paint = torch.ones(bench.shape, dtype=torch.bool) if before is None else fit_mask(before, *bench.shape)
    paint[row] = sees
    return painting_to_text(paint.numpy())


def _show(paint: str, row: int) -> None:
    persistent.write({"paint": paint, "row": str(row), "tab": "fills"})
