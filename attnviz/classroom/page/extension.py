"""A class beside any page: the panel of a student or of the teacher, and the cover of the page's picture."""

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
    """Read the class, and follow its step."""
    following.begin()


def draw_panel(page: Page) -> str:
    """Draw the panel; return the sentence in the place of the page's picture, "" where it may be shown."""
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
            return phrase("This picture belongs to a class that you have not joined in this browser.")
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
    """Draw the way into the class, for a link that was passed on, and until the browser has brought this visitor's
    seat.
    """
    st.markdown(f"#### {phrase('A class')}")
    of = {CLASS: persistent.text(CLASS)}
    st.button(
        phrase("Join the class"), key="class-to-join", type="primary", on_click=navigation.send,
        args=(following.HOME, of),
    )  # fmt: skip
    st.button(phrase("Look without the class"), key="class-without", on_click=persistent.write, args=({CLASS: None},))


def _way_back(title: str, found: MemberView) -> None:
    """Draw the way back, for a student who has gone elsewhere."""
    page, query = following.address(found.code, found.link)
    if page != title and not following.is_waiting(found):
        name = phrase("Back to the class’s picture")
        st.button(name, key="class-return", on_click=navigation.send, args=(page, query))
