"""Lessons: step-by-step lessons. Each step has a picture and a question, which is asked before the picture is shown."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.styles import style
from attnviz.lessons.page import page

layout.begin_page_of_its_own("Lessons", page.bar)
st.html(style("lessons.css"))
page.draw()
layout.end_page_of_its_own(None, ())
