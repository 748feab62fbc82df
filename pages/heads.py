"""Heads: every attention head of the model on one sentence, large, as links, all at once, or down to its numbers."""

import streamlit as st

from attnviz.ui import layout
from attnviz.ui.cache import traces
from attnviz.ui.heads import tabs as heads_tabs
from attnviz.ui.heads import upload
from attnviz.ui.styles import style

request = layout.begin_page("Heads")
st.html(style("heads.css"))
with st.container(key="heads-bar", horizontal=True):
    texts = heads_tabs.bar()
    own = upload.picker()

# Below here torch is imported: by then the input can be used.
from attnviz.ui import captions
from attnviz.ui.heads import downloads, page, sync

make = traces.trace if texts["tab"] in heads_tabs.WHOLE_TRACE else traces.attention
trace = own or layout.run_or_refuse(lambda: make(request))
captions.about(trace, upload.said() if own else request.entry)
view = sync.current(texts, trace, upload.entry() if own else request.entry)
tabs = page.settled(trace, heads_tabs.current(texts, trace, view))
picture = page.draw(trace, tabs, None if own else request)
if picture is not None:
    downloads.below(lambda: own or traces.trace(request), picture, view)
if own:
    upload.finish(own, tabs)
else:
    layout.end_page(request, trace, tabs)
