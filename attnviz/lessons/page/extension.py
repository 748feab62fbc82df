"""A lesson beside any page: its panel, and its cover on the page's picture."""

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.frame.page import Page
from attnviz.app.styles import style
from attnviz.heads.heads_state import HeadsState
from attnviz.kit.covering import Covering
from attnviz.lessons.page import companion, cover, lesson_draft, marks, panel, windows
from attnviz.lessons.page.open_lesson import is_done, is_open, open_lesson


def begin(_page: Page) -> None:
    """Take stale parameters out of the address; style a window that has the panel alone."""
    windows.tidy()
    if windows.is_panel():
        st.html(style("lesson_window.css"))


def draw_panel(page: Page) -> str:
    """Draw the lesson's panel; return the sentence in the place of the page's picture, "" where it may be shown."""
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
    """Check whether the browser has to keep something: a draft that is being tried, or the mark that this lesson is
    done.
    """
    now = open_lesson()
    if now is not None and now.lesson.name != lesson_draft.DRAFT and is_done(now.lesson):
        lesson_draft.note_done(now.lesson.name)
        return True
    return persistent.text("lesson") == lesson_draft.DRAFT


def covering(view: HeadsState) -> Covering:
    """Return the open question's cover of the Heads picture, its task on the map, and the marks there."""
    if not is_open():
        return Covering()
    now, asked = open_lesson(), marks.map_task(view)
    is_asking = now is not None and now.question is not None and asked is not None and "most" in asked
    cells = marks.marked_cells(now, now.question) if is_asking and now and now.question else None
    return Covering(cover.cover(), asked, {} if cells is None else {"marks": cells})


def hides_numbers() -> bool:
    """Check whether a question is open whose answer some number of the run would tell."""
    return cover.hides_numbers()


def covered_sentence() -> str:
    """Return the sentence in the place of a covered picture."""
    return cover.covered_sentence()


def adopt_marks() -> None:
    """Take over the cells that were marked on the Heads map."""
    marks.adopt()
