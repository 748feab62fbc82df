"""The welcome: what attnviz is, a first step, the sentence that is typed above, and the pages."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.cache import traces

request = layout.begin_page("Welcome")

# Below here torch is imported: by then the input can be used.
from attnviz.lessons.page import welcome

welcome.intro()
trace = layout.run_or_refuse(lambda: traces.trace(request))
left, right = st.columns([5, 6], gap="large")
with left:
    welcome.story(trace)
    welcome.pages()
with right:
    welcome.live_example(trace, request.entry)
welcome.model_drawing(request)
layout.end_page(request, trace)
