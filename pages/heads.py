"""Heads: every attention head of the model on one sentence: as a large map, as links, all at once, or in numbers."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.cache import traces
from attnviz.app.styles import style
from attnviz.heads.page import tabs as heads_tabs
from attnviz.heads.page import upload

request = layout.begin_page("Heads")
st.html(style("heads.css"))
with st.container(key="heads-bar", horizontal=True):
    texts = heads_tabs.bar(request.entry)
    own = upload.picker()

# Below here torch is imported: by then the input can be used.
from attnviz.app import captions
from attnviz.heads.page import choices, downloads, page

make = traces.trace if heads_tabs.needs_whole_trace(texts) else traces.attention
trace = own or layout.trace_or_refuse(request, make)
captions.set_caption(trace, upload.caption() if own else request.entry)
host = page.host_of(trace)
state = choices.current_state(texts, trace, upload.entry() if own else request.entry, host)
picture = page.draw(trace, state, None if own else request, host)
if picture is not None:
    downloads.draw_downloads(lambda: own or traces.trace(request), picture, state.heads)
if own:
    upload.finish(own, state)
else:
    layout.end_page(request, trace, state)
