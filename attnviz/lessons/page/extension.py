"""A lesson beside any page: its panel, and what it covers on the page's picture until a question is answered."""

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.frame.page import Page
from attnviz.app.styles import style
from attnviz.heads.heads_state import HeadsState
from attnviz.kit.covering import Covering
from attnviz.lessons.page import companion, cover, lesson_draft, marks, panel, windows
from attnviz.lessons.page.open_lesson import is_done, is_open, open_lesson


def begin(_page: Page) -> None:
    """Remove stale parameters from the address, and add the style sheet of a window that shows the panel alone."""
    windows.tidy()
    if windows.is_panel():
        st.html(style("lesson_window.css"))


def draw_panel(page: Page) -> str:
    """Draw the lesson's panel.

    Return a sentence that replaces the page's picture, or "" if the picture may be shown.
    """
    if page.title in ("Lessons", "Class") or persistent.text("class") or not persistent.text("lesson"):
        return ""
    if open_lesson() is None and persistent.text("lesson") != lesson_draft.DRAFT:
        return ""  # there is no such lesson, which a note says
    st.html(style("lessons.css"))
    if _keeps_something():
        lesson_draft.keep()
    with st.container(key="lesson-panel"), companion.linked_windows(companion.show_step):
        panel.draw()
    return cover.covered_sentence() if cover.hides(page.title) else ""


def _keeps_something() -> bool:
    """Check whether the browser must store something: a draft that is being tried, or that this lesson is finished."""
    now = open_lesson()
    if now is not None and now.lesson.name != lesson_draft.DRAFT and is_done(now.lesson):
        lesson_draft.note_done(now.lesson.name)
        return True
    return persistent.text("lesson") == lesson_draft.DRAFT


def covering(view: HeadsState) -> Covering:
    """Return what the open question covers on the Heads picture, what is to be marked there, and the marks."""
    if not is_open():
        return Covering()
    now, asked = open_lesson(), marks.map_task(view)
    is_asking = now is not None and now.question is not None and asked is not None and "most" in asked
    cells = marks.marked_cells(now, now.question) if is_asking and now and now.question else None
    return Covering(cover.cover(), asked, {} if cells is None else {"marks": cells})


def hides_numbers() -> bool:
    """Check whether an open question asks for something that could be read from numbers on the page, so they are
    hidden.
    """
    return cover.hides_numbers()


def covered_sentence() -> str:
    """Return the sentence that is shown instead of a covered picture."""
    return cover.covered_sentence()


def adopt_marks() -> None:
    """Use the cells that the visitor marked on the Heads map as the answer in progress."""
    marks.adopt()
