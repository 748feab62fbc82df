"""The tab Fills: every fill on one row, and a row that is painted shut, so that it sees no key."""

import streamlit as st
import torch

from attnviz.analysis.masks.findings import comparison
from attnviz.analysis.masks.mask_spec import fit_mask
from attnviz.pictures.mask_lab import FILL_NAMES
from attnviz.text.glossary import definitions
from attnviz.ui import charts
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import select
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.views.masks.fill_table import fill_table, three_answers
from attnviz.widgets.mask_lab.painting import painting_to_text


def fills(bench: MaskExperiment) -> None:
    """Draw the tab Fills: every fill in every dtype on the same row; where it sees no key, the three answers first."""
    rows, row = bench.rows, _telling_row(bench)
    named = [f"{at}: {' → '.join(filter(None, names))}" for at, names in enumerate(rows)]
    select("row", "Row", range(len(rows)), row, named.__getitem__, means=definitions("Masks")["Row"])
    table = comparison(bench.call, bench.mask, row, bench.view.number)
    # The chosen dtype comes first: its fills are in view at once.
    table = table.sort_values("dtype", key=lambda names: names != bench.view.dtype, kind="stable")
    if not bool(bench.mask[row].any()):
        in_force = table.loc[table["dtype"] == bench.view.dtype]
        st.html(three_answers(in_force, FILL_NAMES, row=f"Row {row}"))
        _reopen(bench, row)
    st.html(fill_table(table, FILL_NAMES, row=f"Row {row}"))
    charts.numbers("fills", lambda: table.assign(fill=table["fill"].map(FILL_NAMES.get)))


def preset(bench: MaskExperiment) -> None:
    """Draw a button that paints a row shut and opens the tab that lists its outcomes."""
    row = _pinned_row(bench)
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


def _telling_row(bench: MaskExperiment) -> int:
    """Return the row to look at: the pinned one, else one without keys, with paint, or one that misses some keys."""
    pinned = _pinned_row(bench)
    if pinned is not None:
        return pinned
    shut, painted = ~bench.mask.any(dim=-1), (bench.mask != bench.rules).any(dim=-1)
    misses_some = bench.mask.any(dim=-1) & ~bench.mask.all(dim=-1)
    return next((int(rows.int().argmax()) for rows in (shut, painted, misses_some) if bool(rows.any())), 0)


def _pinned_row(bench: MaskExperiment) -> int | None:
    row = bench.view.row
    return row if row is not None and row < bench.shape[0] else None


def _paint_row(bench: MaskExperiment, row: int, *, sees: bool) -> str:
    """Change a whole row of the paint; return it as text."""
    before = bench.recipe.painted
    paint = torch.ones(bench.shape, dtype=torch.bool) if before is None else fit_mask(before, *bench.shape)
    paint[row] = sees
    return painting_to_text(paint.numpy())


def _show(paint: str, row: int) -> None:
    persistent.write({"paint": paint, "row": str(row), "tab": "fills"})
