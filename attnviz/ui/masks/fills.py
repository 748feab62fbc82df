"""The tab Fills of the Masks page: all fills on one row."""

import streamlit as st

from attnviz.analysis.masks.findings import comparison
from attnviz.pictures.mask_lab import FILL_NAMES
from attnviz.text.glossary import definitions
from attnviz.ui import charts
from attnviz.ui.address.widgets import select
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.ui.masks.shut_row import reopen, telling_row
from attnviz.views.masks.fill_table import fill_table, three_answers


def fills(bench: MaskExperiment) -> None:
    """Every fill in every dtype on the same row; where it sees no key, the three answers first."""
    rows, row = bench.rows, telling_row(bench)
    named = [f"{at}: {' → '.join(filter(None, names))}" for at, names in enumerate(rows)]
    select("row", "Row", range(len(rows)), row, named.__getitem__, means=definitions("Masks")["Row"])
    table = comparison(bench.call, bench.mask, row, bench.view.number)
    # The dtype in force comes first: its fills are in view at once.
    table = table.sort_values("dtype", key=lambda names: names != bench.view.dtype, kind="stable")
    if not bool(bench.mask[row].any()):
        in_force = table.loc[table["dtype"] == bench.view.dtype]
        st.html(three_answers(in_force, FILL_NAMES, row=f"Row {row}"))
        reopen(bench, row)
    st.html(fill_table(table, FILL_NAMES, row=f"Row {row}"))
    charts.numbers("fills", lambda: table.assign(fill=table["fill"].map(FILL_NAMES.get)))
