"""Class: a lesson or a question for a group. Students join with a code and a nickname; the teacher sees the answers."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.styles import style
from attnviz.classroom.page import page

layout.begin_page_of_its_own("Class", page.bar)
st.html(style("lessons.css", "classes.css", "room.css"))
page.draw()
layout.end_page_of_its_own(None, ())
