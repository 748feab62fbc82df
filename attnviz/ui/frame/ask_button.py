"""Ask the room: the button in the rail that begins a class on one question about the page's picture."""

import streamlit as st

from attnviz.ui.frame.page import Page

_WITHOUT = ("Welcome", "Lessons", "Class")  # pages that a step's link cannot lead to


def ask_the_room(page: Page, query: str) -> None:
    """Draw the button; pressed, it opens the form. `query` is the link to what stands on the page."""
    if page.title in _WITHOUT:
        return
    with st.sidebar:
        pressed = st.button("Ask the room", key="ask-the-room", icon=":material/record_voice_over:", width="stretch")
    if pressed:
        from attnviz.ui.classes.asking import draw_form

        st.dialog("Ask the room", width="medium", icon=":material/record_voice_over:")(draw_form)(page.title, query)
