"""Decoding: training in one pass compared with decoding step by step, and a reply while it is written."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.styles import style
from attnviz.decoding.page import controls, steps

request = layout.begin_page("Decoding")
st.html(style("decoding.css"))
if controls.draw_bar(request.entry) == "reply":
    from attnviz.decoding.reply.page import page

    page.draw(request)
else:
    steps.draw(request)
