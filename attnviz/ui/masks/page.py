"""The Masks page below its top bar: controls, and the tab that is open."""

import streamlit as st

from attnviz.ui import captions, layout
from attnviz.ui.masks import broadcast, controls, experiment, fills, leak, output, pipeline, shut_row
from attnviz.ui.masks.state import MasksState
from attnviz.ui.request import Request

TABS = {
    "pipeline": pipeline.below,
    "says": output.says,
    "fills": fills.fills,
    "leak": leak.leak,
    "rows": leak.rows,
    "broadcast": broadcast.broadcast,
}


def laboratory(request: Request, trace, view: MasksState) -> None:
    """Draw the tab that is open, and the controls; the tab first, for it is what an edit waits for."""
    # On a phone the picture comes first: see masks.css.
    with st.container(key="mask-stage"):
        left, right = st.columns([20, 80], gap="small")
    with right:
        controls.tabs(view)
        bench = layout.run_or_refuse(lambda: experiment.mask_experiment(request, trace, view))
        captions.about(bench.trace, request.entry, item=min(view.item, len(bench.trace.sentences) - 1))
        if view.tab == "pipeline":
            pipeline.picture(bench)
    with left, st.container(key="mask-controls"):
        controls.site(trace, view)
        controls.masks(view)
        shut_row.preset(bench)
        controls.fill(view)
        controls.batch(view)
    with right:
        TABS[view.tab](bench)
