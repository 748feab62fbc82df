"""A class beside any page: the panel of a student or the teacher, and what is covered on the page's picture."""

from functools import partial

import streamlit as st

from attnviz.app.address import navigation, persistent
from attnviz.app.frame.page import Page
from attnviz.app.styles import style
from attnviz.classroom.page import following, live, seat, student, teacher
from attnviz.classroom.page.seat import CLASS
from attnviz.classroom.state import MemberView
from attnviz.lessons.page import companion, cover
from attnviz.lessons.page.wording import phrase


def begin(_page: Page) -> None:
    """Read the class's state from the database, and open the step that the class is at."""
    following.begin()


def draw_panel(page: Page) -> str:
    """Draw the class's panel. Return a sentence that replaces the page's picture, or "" if the picture may be shown."""
    if page.title == "Class":
        return ""
    st.html(style("lessons.css", "classes.css"))
    seat.draw()
    own, found = seat.current_seat(), following.view()
    with st.container(key="lesson-panel"):
        if own is None or found is None:
            if own is not None:  # the class cannot be read just now
                live.watch(own)
            _outside()
            return phrase("This picture belongs to a class, but you have not joined this class in this browser.")
        if isinstance(found, MemberView):
            live.watch(own)
            with st.container(key="class-panel"), companion.linked_windows(partial(following.show, found)):
                student.draw(own, found)
                _way_back(page.title, found)
        else:
            with companion.linked_windows(partial(following.show_step, found)):
                teacher.panel(own, found)
    return cover.covered_sentence() if cover.hides(page.title) else ""


def _outside() -> None:
    """Draw the button that joins the class, for a visitor without a seat in it.

    The button also appears until the browser has reported the seat of a visitor who has one.
    """
    st.markdown(f"#### {phrase('A class')}")
    of = {CLASS: persistent.text(CLASS)}
    st.button(
        phrase("Join the class"), key="class-to-join", type="primary", on_click=navigation.send,
        args=(following.HOME, of),
    )  # fmt: skip
    st.button(phrase("Look without the class"), key="class-without", on_click=persistent.write, args=({CLASS: None},))


def _way_back(title: str, found: MemberView) -> None:
    """Draw the button that leads a student back to the class's picture from another page."""
    page, query = following.address(found.code, found.link)
    if page != title and not following.is_waiting(found):
        name = phrase("Back to the class’s picture")
        st.button(name, key="class-return", on_click=navigation.send, args=(page, query))
