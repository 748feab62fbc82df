"""Masks: every mask and every fill tried on the real model, on the sentence that is typed above."""

import streamlit as st

from attnviz.ui import frame, masks_controls, masks_laboratory, session

request = frame.page("Masks")
st.html(frame.STYLES / "masks.css")
trace = frame.run(lambda: session.trace(request))
view = masks_controls.current(trace, request.entry)
masks_laboratory.laboratory(request, trace, view)
frame.finish(request, trace, view)
