"""The Masks page below its top bar: controls, and the room that is open."""

import streamlit as st

from attnviz.ui import (
    captions,
    frame,
    masks_controls,
    masks_lab,
    masks_leak,
    masks_pipeline,
    masks_rooms,
    masks_says,
    masks_shut,
)
from attnviz.ui.masks_link import MaskView
from attnviz.ui.session import Request

ROOMS = {
    "pipeline": masks_pipeline.below,
    "says": masks_says.says,
    "fills": masks_rooms.fills,
    "leak": masks_leak.leak,
    "rows": masks_leak.rows,
    "broadcast": masks_rooms.broadcast,
}


def laboratory(request: Request, trace, view: MaskView) -> None:
    """Draw the room that is open, and the controls; the room first, for it is what an edit waits for."""
    # On a phone the picture comes first: see masks.css.
    with st.container(key="mask-stage"):
        left, right = st.columns([20, 80], gap="small")
    with right:
        masks_controls.room(view)
        bench = frame.run(lambda: masks_lab.bench(request, trace, view))
        captions.about(bench.trace, request.entry, item=min(view.item, len(bench.trace.sentences) - 1))
        if view.room == "pipeline":
            masks_pipeline.picture(bench)
    with left, st.container(key="mask-controls"):
        masks_controls.site(trace, view)
        masks_controls.masks(view)
        masks_shut.preset(bench)
        masks_controls.fill(view)
        masks_controls.batch(view)
    with right:
        ROOMS[view.room](bench)
