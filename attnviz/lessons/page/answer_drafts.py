"""Answers in progress: chosen, drawn or typed for a question, but not submitted yet. The other window receives them."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.app.reports import reported_value
from attnviz.lessons.page import marks
from attnviz.lessons.page.open_lesson import OpenedLesson
from attnviz.lessons.question import CELL, HEAD, NUMBER, ROW, TEXT, Question
from attnviz.lessons.scoring import MOST_TEXT, read_number

_DRAWN, _HEARD = "drawn", "heard-row"
_MOST_SAID = 200  # characters of a line
_MOST_KEYS = 4_096
# The field of a kind of question, where it has one of its own; those without options are answered by a line.
_FIELDS = {CELL: (), ROW: (), HEAD: ("option",), NUMBER: ("number",), TEXT: ("text",)}


def fields(now: OpenedLesson, question: Question) -> dict[str, Any]:
    """Return the current values of the question's fields, by field name."""
    found = {name: st.session_state.get(marks.key(now, name)) for name in ("option", "number", "said", "text")}
    found["row"] = row(now)
    found["cells"] = marks.marked_cells(now, question) or None if question.kind == CELL else None
    return {name: chosen for name, chosen in found.items() if chosen is not None}


def answer(now: OpenedLesson, question: Question, drawn: Any) -> Any:
    """Return the answer that the question's field holds now, or None. `drawn` is the answer when the last run ended.

    Somebody who types and then presses the button leaves the field at that moment, so the button's callback may run
    before any run has read the field. The same holds for a cell or a bar that was changed just before.
    """
    if question.kind == CELL:
        return marks.newest_marks(now, question, drawn)
    if question.kind == ROW:
        return weights_of(row(now))
    found = next(
        (st.session_state[key] for name in _names(question) if (key := marks.key(now, name)) in st.session_state), drawn
    )
    if question.kind == NUMBER:
        return number_of(found)
    if isinstance(found, str):
        return found.strip() or None
    is_head = question.kind == HEAD and type(found) is int
    return list(question.heads[found]) if is_head else found


def _names(question: Question) -> tuple[str, ...]:
    return _FIELDS.get(question.kind, ("option",) if question.options else ("said",))


def fill(now: OpenedLesson, question: Question, given: Any) -> None:
    """Set the question's empty fields to a given answer, before the fields are drawn."""
    if question.kind == ROW:
        if row(now) is None:
            take_over(now, question, {"row": [round(weight * 1000) for weight in given]})
        return
    (name,) = _names(question) or ("cells",)
    if marks.key(now, name) not in st.session_state:
        chosen = question.heads.index(tuple(given)) if question.kind == HEAD else given
        take_over(now, question, {name: _number_text(chosen) if question.kind == NUMBER else chosen})


def take_over(now: OpenedLesson, question: Question, told: Mapping[str, Any]) -> None:
    """Set this window's fields to the values from the other window, before the fields are drawn."""
    marks.mark_cells(now, question, told.get("cells"))
    choices = len(question.heads if question.kind == HEAD else question.options)
    for name, is_taken in {
        "option": lambda chosen: type(chosen) is int and 0 <= chosen < choices,
        "number": lambda chosen: isinstance(chosen, str) and len(chosen) <= _MOST_SAID,
        "said": lambda chosen: isinstance(chosen, str) and len(chosen) <= _MOST_SAID,
        "text": lambda chosen: isinstance(chosen, str) and len(chosen) <= MOST_TEXT,
    }.items():
        if is_taken(told.get(name)):
            st.session_state[marks.key(now, name)] = told[name]
    weights = told.get("row")
    if isinstance(weights, list) and len(weights) <= _MOST_KEYS and all(type(one) is int for one in weights):
        st.session_state[marks.key(now, _HEARD)] = weights, _own_row(now)


def number_of(typed: str | float | None) -> float | str | None:
    """Return the number in a field. If its text is not a number, return the text, which the error message quotes."""
    if not isinstance(typed, str):
        return typed
    try:
        return read_number(typed)
    except ValueError:
        return typed.strip() or None


def _number_text(number: float) -> str:
    return repr(float(number)).removesuffix(".0")


def row(now: OpenedLesson) -> list[int] | None:
    """Return the row of weights that is being drawn, in thousandths: the newer one of both windows, or None."""
    heard, own_then = st.session_state.get(marks.key(now, _HEARD), (None, None))
    own = _own_row(now)
    return heard if heard is not None and own == own_then else own


def weights_of(thousandths: list[int] | None) -> list[float] | None:
    """Convert a drawn row from thousandths to weights; None stays None."""
    return None if thousandths is None else [weight / 1000 for weight in thousandths]


def heard_row(now: OpenedLesson) -> list[int] | None:
    """Return the row that was last drawn in the other window; None if there is none."""
    return st.session_state.get(marks.key(now, _HEARD), (None, None))[0]


def row_key(now: OpenedLesson) -> str:
    """Return the session key under which this window stores the row of weights that the student draws as bars."""
    return marks.key(now, _DRAWN)


def _own_row(now: OpenedLesson) -> list[int] | None:
    said = reported_value(row_key(now), "guess", {"weights": list})
    return said["weights"] if said else None
