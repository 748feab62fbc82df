"""Masks: every mask and every fill tried on the real model, on the sentence that is typed above."""

import streamlit as st

from attnviz.ui import layout
from attnviz.ui.cache import traces
from attnviz.ui.masks import page
from attnviz.ui.styles import style

request = layout.begin_page("Masks")
st.html(style("masks.css"))
trace = layout.trace_or_refuse(request, traces.full_trace)
view = page.laboratory(request, trace)
layout.end_page(request, trace, view)
