"""The page Class: the form to join, a student's waiting room, or the teacher's console."""

from functools import partial

import streamlit as st

from attnviz.classroom.state import MemberView
from attnviz.ui.classes import console, following, joining, live, seat, student
from attnviz.ui.lessons import companion, windows
from attnviz.ui.wording import phrase


def bar() -> None:
    """Draw the page's line in the place of the sentence."""
    st.markdown(phrase("**Class** · A lesson or a question together. No account needed."))


def draw() -> None:
    """Draw the form to join, a student's panel, or the teacher's console."""
    seat.draw()
    own, found = seat.current(), following.view()
    if own is None or found is None:
        if own is not None:  # the class cannot be read just now
            live.watch(own)
        with st.container(key="lesson-alone"):
            joining.draw()
        return
    if isinstance(found, MemberView):
        live.watch(own)
        with st.container(key="lesson-alone"), companion.linked_windows(partial(following.show, found)):
            student.draw(own, found)
    elif windows.is_panel():
        with companion.linked_windows(partial(following.show_step, found)):
            companion.button()
            console.draw(own, found)
    else:
        console.draw(own, found)
