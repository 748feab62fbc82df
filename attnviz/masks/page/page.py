"""The page Masks below its top bar: the controls and the open tab, and the tabs "All fills" and "Broadcast"."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from attnviz.app import captions, charts, layout
from attnviz.app.address import persistent
from attnviz.app.address.share import Linkable, Together
from attnviz.app.address.widgets import select
from attnviz.app.request import Request
from attnviz.kit.fields import PageState
from attnviz.kit.glossary import definitions
from attnviz.masks.mask_lab import FILL_NAMES
from attnviz.masks.page import controls, experiment, hide, leak, output, pipeline
from attnviz.masks.page.experiment import MaskExperiment
from attnviz.masks.tabs import broadcast
from attnviz.masks.tabs.fills import (
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
from attnviz.tracing.trace import Trace

Draw = Callable[[MaskExperiment], PageState | None]


def laboratory(request: Request, trace: Trace) -> Linkable:
    """Draw the open tab, then the controls; return the state that a link contains.

    The tab is drawn first, because a visitor's edit waits for it.
    """
    page, view, is_image = controls.current_tab(trace), controls.current_mask(trace), bool(trace.sentences[0].images)
    # On a phone the picture is shown first; see masks.css.
    with st.container(key="mask-stage"):
        left, right = st.columns([20, 80], gap="small")
    with right:
        controls.tabs(page.tab, is_image=is_image)
    if page.tab == controls.HIDE:
        with right:
            captions.set_caption(trace, request.entry)
            brush = hide.picture(request, trace)
        with left, st.container(key="mask-controls"):
            controls.site(trace, view)
            hide.controls(trace)
        return Together(page, brush)
    with right:
        bench = layout.run_or_refuse(lambda: experiment.mask_experiment(request, trace, view))
        captions.set_caption(bench.trace, request.entry, item=min(view.item, len(bench.trace.sentences) - 1))
        if page.tab == "pipeline":
            pipeline.picture(bench)
    with left, st.container(key="mask-controls"):
        controls.site(trace, view)
        controls.masks(view, is_image=is_image)
        _draw_shut_row(bench)
        controls.fill(view)
        if not is_image:
            controls.batch(view)
    with right:
        own = TABS[page.tab](bench)
    return Together(page, view, own)


def _draw_fills(bench: MaskExperiment) -> None:
    """Draw the tab "All fills": every fill in every dtype on one row.

    If the row sees no key, draw the three possible results first.
    """
    names, row = row_names(bench), telling_row(bench)
    select("row", LABEL, range(len(names)), row, names.__getitem__, means=definitions("Masks")[LABEL])
    table = every_fill(bench, row)
    if found := answers(bench, table, row):
        st.html(found)
        _draw_open_row(bench, row)
    st.html(lines(table, row))
    charts.numbers("fills", lambda: table.assign(fill=table["fill"].map(FILL_NAMES.get)))


def _draw_shut_row(bench: MaskExperiment) -> None:
    """Draw a button that hides all keys of a row and opens the tab "All fills"."""
    row = row_to_shut(bench)
    st.button(
        NO_KEYS,
        key="row-without-keys",
        width="stretch",
        on_click=_show_fills,
        args=(paint_row(bench, row, sees=False), row),
    )


def _draw_open_row(bench: MaskExperiment, row: int) -> None:
    """Draw a button that removes the row's paint, if only the paint hides its keys."""
    if bool(bench.rules[row].any()):
        paint = paint_row(bench, row, sees=True)
        st.button("Show the row's keys again", key="row-with-keys", on_click=_show_fills, args=(paint, row))


def _show_fills(paint: str, row: int) -> None:
    persistent.write({"paint": paint, "row": str(row), "tab": "fills"})


def _broadcast(bench: MaskExperiment) -> None:
    """Draw the tab Broadcast: how a mask gets its head dimension in this run, and torch's answers without it."""
    st.html(broadcast.picture(bench))
    table = pd.DataFrame(broadcast.tried(bench), columns=["code", "result", "what happens"])
    st.table(table.set_index("code"))  # st.table wraps, so that torch's message is fully visible
    st.caption(broadcast.explanation(bench))


TABS: dict[str, Draw] = {
    "pipeline": pipeline.draw_below,
    "says": output.says,
    "fills": _draw_fills,
    "leak": leak.leak,
    "rows": leak.rows,
    "broadcast": _broadcast,
}
