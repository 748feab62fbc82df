"""Lessons: what there is to learn step by step, each step a picture and a question that is asked before it shows."""

import streamlit as st

from attnviz.ui import layout
from attnviz.ui.lessons import page
from attnviz.ui.styles import style

layout.begin_page_of_its_own("Lessons", page.bar)
st.html(style("lessons.css"))
page.draw()
layout.end_page_of_its_own(None, ())
