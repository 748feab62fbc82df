"""Decoding: training all at once, inference step by step, and whether the two compute the same numbers; and a reply
as it is written.
"""

import streamlit as st

from attnviz.ui import layout
from attnviz.ui.decoding import steps, tabs
from attnviz.ui.styles import style

request = layout.begin_page("Decoding")
st.html(style("decoding.css"))
if tabs.draw_bar(request.entry) == "reply":
    from attnviz.ui.decoding.reply import page

    page.draw(request)
else:
    steps.draw(request)
