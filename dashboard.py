"""The welcome: what attnviz is, on the sentence that is typed above, and where to go."""

import streamlit as st

from attnviz.ui import frame, session

request = frame.page("Welcome")

# Below here torch is imported: by then the input can be used.
from attnviz.ui import welcome

trace = frame.run(lambda: session.trace(request))
left, right = st.columns([5, 6], gap="large")
with left:
    welcome.story(trace)
    welcome.ways_in()
with right:
    welcome.live_example(trace, request.entry)
frame.finish(request, trace)
