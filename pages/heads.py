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
from attnviz.heads.page import downloads, page

make = traces.trace if heads_tabs.needs_whole_trace(texts) else traces.attention
trace = own or layout.trace_or_refuse(request, make)
captions.set_caption(trace, upload.caption() if own else request.entry)
shown = layout.draw_part(page.OpenTab(request), trace)
if shown.heads is not None and not shown.heads.is_covered:
    downloads.draw_download(lambda: own or traces.trace(request))
if own:
    upload.finish(own, shown.page)
else:
    layout.end_page(request, trace, shown.page)
