"""Lessons: what there is to learn step by step, each step a picture and a question that is asked before it shows."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.styles import style
from attnviz.lessons.page import page

layout.begin_page_of_its_own("Lessons", page.bar)
st.html(style("lessons.css"))
page.draw()
layout.end_page_of_its_own(None, ())
