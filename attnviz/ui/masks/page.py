"""The Masks page below its top bar: controls, and the tab that is open."""

from collections.abc import Callable

import streamlit as st

from attnviz.pictures.fields import PageState
from attnviz.tracing.trace import Trace
from attnviz.ui import captions, layout
from attnviz.ui.address.share import Linkable, Together
from attnviz.ui.masks import broadcast, controls, experiment, fills, leak, output, pipeline, shut_row
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.ui.masks.state import MasksTab
from attnviz.ui.request import Request

Draw = Callable[[MaskExperiment], PageState | None]
TABS: dict[str, Draw] = {
    "pipeline": pipeline.below,
    "says": output.says,
    "fills": fills.fills,
    "leak": leak.leak,
    "rows": leak.rows,
    "broadcast": broadcast.broadcast,
}


def laboratory(request: Request, trace: Trace) -> Linkable:
    """Draw the tab that is open, and the controls; the tab first, for an edit waits for it.

    Returns what a link carries.
    """
    page, view = layout.state_in_address(MasksTab), controls.current(trace)
    # On a phone the picture comes first: see masks.css.
    with st.container(key="mask-stage"):
        left, right = st.columns([20, 80], gap="small")
    with right:
        controls.tabs(page.tab)
        bench = layout.run_or_refuse(lambda: experiment.mask_experiment(request, trace, view))
        captions.about(bench.trace, request.entry, item=min(view.item, len(bench.trace.sentences) - 1))
        if page.tab == "pipeline":
            pipeline.picture(bench)
    with left, st.container(key="mask-controls"):
        controls.site(trace, view)
        controls.masks(view)
        shut_row.preset(bench)
        controls.fill(view)
        controls.batch(view)
    with right:
        own = TABS[page.tab](bench)
    return Together(page, view, own)
