"""The Masks page below its top bar: controls, and the room that is open. An edit is answered by this part alone."""

import time

import streamlit as st

from attnviz.ui import (
    frame,
    masks_controls,
    masks_lab,
    masks_leak,
    masks_pipeline,
    masks_rooms,
    masks_says,
    session,
)
from attnviz.ui.masks_link import MaskView
from attnviz.ui.session import Request

SENT = 0.02  # seconds: what has not left for the browser when another run begins is dropped
ROOMS = {
    "pipeline": masks_pipeline.below,
    "says": masks_says.says,
    "fills": masks_rooms.fills,
    "leak": masks_leak.leak,
    "rows": masks_leak.rows,
    "broadcast": masks_rooms.broadcast,
}


@st.fragment
def laboratory(request: Request, linked: MaskView) -> None:
    """Draw the controls and the room that is open. `linked` is the view that the address asked for.

    An edit runs this part only, and what was edited differs from `linked` then: the picture is drawn at once, before
    anything else, and the page follows: the address, the link to copy, what the model would now say.
    """
    trace = session.trace(request)
    view = masks_controls.asked(trace, request.entry)
    if view != linked and not _at_once(view, linked):
        st.rerun()
    left, right = st.columns([20, 80], gap="small")
    with right:
        masks_controls.room(view)
        bench = frame.run(lambda: masks_lab.bench(request, trace, view))
        if view.room == "pipeline":
            masks_pipeline.picture(bench)
        if view != linked:
            time.sleep(SENT)
            st.rerun()
        ROOMS[view.room](bench)
    with left, st.container(key="mask-controls"):
        masks_controls.site(trace, view)
        masks_controls.masks(view)
        masks_controls.fill(view)
        masks_controls.batch(view)


def _at_once(view: MaskView, linked: MaskView) -> bool:
    """Whether an edit changes the picture. A second sentence may be refused: that the page has to say."""
    return view.room == linked.room == "pipeline" and view.second == linked.second
