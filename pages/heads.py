"""Heads: every attention head of the model on one sentence, large, as links, all at once, or down to its numbers."""

import streamlit as st

from attnviz.ui import frame, heads_tabs, own_tensors, session

request = frame.page("Heads")
st.html(frame.STYLES / "heads.css")
with st.container(key="heads-bar", horizontal=True):
    texts = heads_tabs.bar()
    own = own_tensors.picker()

# Below here torch is imported: by then the input can be used.
from attnviz.ui import captions, heads_rooms, heads_view

trace = own or frame.run(lambda: session.attention(request))
captions.about(trace, own_tensors.said() if own else request.entry)
view = heads_view.current(texts, trace, own_tensors.entry() if own else request.entry)
tabs = heads_tabs.current(texts, trace, view)
heads_rooms.draw(trace, tabs, whole=lambda: own or session.trace(request))
if own:
    own_tensors.finish(own, tabs)
else:
    frame.finish(request, trace, tabs)
