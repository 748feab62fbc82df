"""Masks: every mask and every fill tried on the real model, on the sentence that is typed above."""

import streamlit as st

from attnviz.ui import frame, masks_controls, masks_lab, masks_leak, masks_pipeline, masks_rooms, masks_says, session

ROOMS = {
    "pipeline": masks_pipeline.pipeline,
    "says": masks_says.says,
    "fills": masks_rooms.fills,
    "leak": masks_leak.leak,
    "rows": masks_leak.rows,
    "broadcast": masks_rooms.broadcast,
}

request = frame.page("Masks")
st.html(frame.STYLES / "masks.css")
trace = frame.run(lambda: session.trace(request))
view = masks_controls.current(trace, request.entry)
left, right = st.columns([20, 80], gap="small")
with left, st.container(key="mask-controls"):
    masks_controls.site(trace, view)
    masks_controls.masks(view)
    masks_controls.fill(view)
    masks_controls.batch(view)
with right:
    masks_controls.room(view)
    bench = frame.run(lambda: masks_lab.bench(request, trace, view))
    ROOMS[view.room](bench)
frame.finish(request, trace, view)
