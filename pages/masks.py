"""Masks: every mask and every fill value, tried with the real model on the sentence in the top bar."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.cache import traces
from attnviz.app.styles import style
from attnviz.masks.page import page

request = layout.begin_page("Masks")
st.html(style("masks.css"))
trace = layout.trace_or_refuse(request, traces.full_trace)
view = page.laboratory(request, trace)
layout.end_page(request, trace, view)
