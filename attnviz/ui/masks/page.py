"""The Masks page below its top bar: controls and the tab that is open; the tab Broadcast."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from attnviz.pictures.fields import PageState
from attnviz.pictures.mask_tabs import broadcast
from attnviz.tracing.trace import Trace
from attnviz.ui import captions, layout
from attnviz.ui.address.share import Linkable, Together
from attnviz.ui.masks import controls, experiment, fills, leak, output, pipeline
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.ui.masks.state import MasksTab
from attnviz.ui.request import Request

Draw = Callable[[MaskExperiment], PageState | None]


def laboratory(request: Request, trace: Trace) -> Linkable:
    """Draw the tab that is open, and the controls; the tab first, for an edit waits for it.

    Returns what a link carries.
    """
    page, view = layout.state_in_address(MasksTab), controls.current_mask(trace)
    # On a phone the picture comes first: see masks.css.
    with st.container(key="mask-stage"):
        left, right = st.columns([20, 80], gap="small")
    with right:
        controls.tabs(page.tab)
        bench = layout.run_or_refuse(lambda: experiment.mask_experiment(request, trace, view))
        captions.set_caption(bench.trace, request.entry, item=min(view.item, len(bench.trace.sentences) - 1))
        if page.tab == "pipeline":
            pipeline.picture(bench)
    with left, st.container(key="mask-controls"):
        controls.site(trace, view)
        controls.masks(view)
        fills.preset(bench)
        controls.fill(view)
        controls.batch(view)
    with right:
        own = TABS[page.tab](bench)
    return Together(page, view, own)


def _broadcast(bench: MaskExperiment) -> None:
    """Draw the tab Broadcast: where a mask gets its head axis, on this sentence, and torch's answers without it."""
    st.html(broadcast.picture(bench))
    table = pd.DataFrame(broadcast.tried(bench), columns=["code", "result", "what happens"])
    st.table(table.set_index("code"))  # wraps: torch's sentence is read to its end
    st.caption(broadcast.explanation(bench))


TABS: dict[str, Draw] = {
    "pipeline": pipeline.draw_below,
    "says": output.says,
    "fills": fills.fills,
    "leak": leak.leak,
    "rows": leak.rows,
    "broadcast": _broadcast,
}
