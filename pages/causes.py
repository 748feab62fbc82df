"""Causes: what a head does, shown by switching it off, patching in another run's values, or changing the sentence."""

from dataclasses import replace

import streamlit as st

from attnviz.app import layout
from attnviz.app.address.share import Together
from attnviz.app.cache import traces
from attnviz.app.styles import style
from attnviz.causes.page import state

request = layout.begin_page("Causes")
st.html(style("causes.css"))
open_tab = state.bar(request)

# Below here torch is imported: by then the input can be used.
from attnviz.app import captions
from attnviz.causes.page import sentences
from attnviz.hosts import registry
from attnviz.spans.page import needle

page = replace(layout.state_in_address(state.CausesState), tab=open_tab)
trace = layout.trace_or_refuse(request, traces.full_trace)
captions.set_caption(trace, request.entry)
state.panel(request)
model = traces.model(request.entry.name)
needle.panel(request, model)
tabs = registry.tabs("Causes")
draw = tabs[open_tab].draw_tab if open_tab in tabs else sentences.draw
view = draw(request, model, trace)
layout.end_page(request, trace, Together(page, view))
