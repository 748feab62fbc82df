"""The tab Fills: every fill on one row, and a row that is painted shut, so that it sees no key."""

import streamlit as st

from attnviz.pictures.mask_lab import FILL_NAMES
from attnviz.pictures.mask_tabs.fills import (
    LABEL,
    NO_KEYS,
    answers,
    every_fill,
    lines,
    paint_row,
    row_names,
    row_to_shut,
    telling_row,
)
from attnviz.text.glossary import definitions
from attnviz.ui import charts
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import select
from attnviz.ui.masks.experiment import MaskExperiment


def fills(bench: MaskExperiment) -> None:
    """Draw the tab Fills: every fill in every dtype on the same row; where it sees no key, the three answers first."""
    names, row = row_names(bench), telling_row(bench)
    select("row", LABEL, range(len(names)), row, names.__getitem__, means=definitions("Masks")[LABEL])
    table = every_fill(bench, row)
    if found := answers(bench, table, row):
        st.html(found)
        _reopen(bench, row)
    st.html(lines(table, row))
    charts.numbers("fills", lambda: table.assign(fill=table["fill"].map(FILL_NAMES.get)))


def preset(bench: MaskExperiment) -> None:
    """Draw a button that paints a row shut and opens the tab that lists its outcomes."""
    row = row_to_shut(bench)
    st.button(
        NO_KEYS,
        key="row-without-keys",
        width="stretch",
        on_click=_show,
        args=(paint_row(bench, row, sees=False), row),
    )


def _reopen(bench: MaskExperiment, row: int) -> None:
    """Draw a button that takes the row's paint away, where paint shuts it."""
    if bool(bench.rules[row].any()):
        paint = paint_row(bench, row, sees=True)
        st.button("Show the row's keys again", key="row-with-keys", on_click=_show, args=(paint, row))


def _show(paint: str, row: int) -> None:
    persistent.write({"paint": paint, "row": str(row), "tab": "fills"})
