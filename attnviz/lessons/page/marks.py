"""The cells that a visitor marks as an answer, on the covered map of Heads or in the panel's lists."""

from typing import Any

import streamlit as st

from attnviz.app.reports import NUMBER, reported_value
from attnviz.lessons.page.open_lesson import OpenedLesson, open_lesson, progress
from attnviz.lessons.page.run import picture
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CELL, Question, positions

MAP = "heads"  # the key of the widget that has the map (`attnviz.app.mount.picture`)
_ADOPTED = "_attnviz_marks_adopted"
Cells = list[list[int]]


def key(now: OpenedLesson, name: str) -> str:
    """Return the session key of a field of the current step."""
    return f"lesson-{now.lesson.name}-{now.at}-{name}"


def marked_cells(now: OpenedLesson, question: Question) -> Cells:
    """Return the marked cells as [row, column] pairs."""
    found = st.session_state.get(key(now, "cells"), [])
    return found if positions(found, question.most) else []


def adopt() -> None:
    """Use the cells that the map's widget reports as the answer in progress."""
    now = open_lesson()
    st.session_state[_ADOPTED] = told = _reported_marks()
    did = progress(now) if now is not None else None
    if now is None or now.question is None or did is None or told is None or did.is_over or did.is_closed:
        return
    mark_cells(now, now.question, told["marks"])


def newest_marks(now: OpenedLesson, question: Question, listed: Any) -> Any:
    """Return the marked cells, or None: `listed` from the lists, unless the map was clicked after the lists were drawn.

    If the map and a button were clicked during the same run, Streamlit calls the button's callback first.
    """
    if _reported_marks() != st.session_state.get(_ADOPTED):
        adopt()
    return marked_cells(now, question) or None if st.session_state.get(key(now, "moved")) else listed


def _reported_marks() -> dict[str, Any] | None:
    return reported_value(MAP, "view", {"marks": list, "seq": NUMBER})


def mark_cells(now: OpenedLesson, question: Question, cells: Any) -> None:
    """Store these cells as the answer in progress if they are a valid answer to the question."""
    if question.kind == CELL and isinstance(cells, list) and positions(cells, question.most):
        st.session_state[key(now, "cells")] = [list(map(int, cell)) for cell in cells]
        st.session_state[key(now, "moved")] = True  # the lists follow


def map_task(view: Any) -> dict[str, Any] | None:
    """Return the open question's task for the Heads widget, or None if it is not about cells or a row of the map in
    focus.

    The task has the question's row and the number of cells to mark. While a class takes no answers it has the cells of
    the submitted answer, and after the answer was revealed the right cells.
    """
    now = open_lesson()
    question = now.question if now else None
    if now is None or question is None or not (question.kind == CELL or question.row):
        return None
    try:
        shown = picture(now.link)
        row = shown.row(question.row) if shown is not None and question.row else None
    except ValueError:  # the panel says so
        return None
    if shown is None or (shown.kind, shown.layer, shown.head) != (view.kind, view.layer, view.head):
        return None
    if question.kind != CELL:
        return {"row": row}
    did = progress(now)
    told: dict[str, Any] = {"most": question.most, "row": row}
    if did.is_over and did.truth is not None:
        return {"right": did.truth.answer, "guess": did.guess or []}
    if did.is_closed:
        return {"row": row, "guess": did.guess or []}
    return told | ({"spot": question.show} if did.rungs > len(question.hints) else {})


def lists_of(shown: LinkedPicture, question: Question) -> tuple[list[int], list[str], list[str]]:
    """Return the indices of the rows that can be chosen, the names of all rows, and the names of all columns."""
    rows = [shown.row(question.row)] if question.row else list(range(len(shown.maps.rows)))
    return rows, [row.text for row in shown.maps.rows], [col.text for col in shown.maps.cols]
