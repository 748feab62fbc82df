"""Causes: what a head does, seen by what happens without it, with another run's numbers, or on another sentence."""

import streamlit as st

from attnviz.ui import layout
from attnviz.ui.address.share import Together
from attnviz.ui.cache import traces
from attnviz.ui.causes import state
from attnviz.ui.styles import style

request = layout.begin_page("Causes")
st.html(style("causes.css"))
open_tab = state.bar()

# Below here torch is imported: by then the input can be used.
from attnviz.ui import captions
from attnviz.ui.causes import attribute, compare, experiments, needle, patch, sentences, switch_off

TABS = {
    "switch-off": switch_off.draw,
    "patch": patch.draw,
    "attribute": attribute.draw,
    "compare": compare.draw,
    "sentences": sentences.draw,
}

page = layout.state_in_address(state.CausesState)
trace = layout.trace_or_refuse(request, traces.full_trace)
captions.set_caption(trace, request.entry)
experiments.panel(request)
model = traces.model(request.entry.name)
needle.panel(request, model)
view = TABS[open_tab](request, model, trace)
layout.end_page(request, trace, Together(page, view))
