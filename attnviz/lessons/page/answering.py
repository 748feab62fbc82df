"""Controls for each kind of question. A control shows the answer in progress and returns it, or None without one."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from attnviz.app.markdown import literal
from attnviz.app.mount import row_guess
from attnviz.lessons.page import answer_drafts, marks
from attnviz.lessons.page.open_lesson import OpenedLesson, progress
from attnviz.lessons.page.wording import phrase
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, TOKEN, TRANSLATION, Question
from attnviz.lessons.scoring import MOST_TEXT, RIGHT_FROM, Truth


def draft(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    """Draw the controls of a question, and return the answer in progress."""
    return _DRAW[question.kind](now, question, shown)


def how_rows_count() -> str:
    """Return the sentence that tells the student how much overlap a drawn row needs to count as right."""
    return phrase(
        "Your row counts as right if it shares at least {share} of the weight with the model’s row.",
        share=f"{RIGHT_FROM:.0%}",
    )


def _cells(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    """Draw lists to choose cells by keyboard. A click on the map marks the same cells."""
    assert shown is not None  # a question about cells has a picture
    rows, row_names, col_names = marks.lists_of(shown, question)
    cells = marks.marked_cells(now, question)
    if question.most > 1:
        return _ask_several(now, question, (rows, row_names, col_names))
    row_at, col_at = cells[0] if cells else (None, None)
    row = rows[0] if question.row else _pick(now, "row", phrase("Row (the query)"), (row_names, row_at))
    col = _pick(now, "col", phrase("Key"), (col_names, col_at))
    st.session_state[marks.key(now, "moved")] = False
    if row is None or col is None:
        return None
    st.session_state[marks.key(now, "cells")] = [[row, col]]
    return [[row, col]]


def _pick(now: OpenedLesson, name: str, label: str, found: tuple[list[str], int | None]) -> int | None:
    names, at = found
    key = marks.key(now, name)
    if st.session_state.get(marks.key(now, "moved")):
        st.session_state[key] = at
    st.session_state.setdefault(key, at)
    return st.selectbox(label, range(len(names)), format_func=lambda i: f"{i}  {names[i]}", key=key, placeholder="…")


def _ask_several(now: OpenedLesson, question: Question, found: tuple[list[int], list[str], list[str]]) -> Any:
    rows, row_names, col_names = found
    every = [(row, col) for row in rows for col in range(len(col_names))]
    key = marks.key(now, "several")
    if st.session_state.get(marks.key(now, "moved")):
        st.session_state[key] = [tuple(cell) for cell in marks.marked_cells(now, question)]
        st.session_state[marks.key(now, "moved")] = False
    chosen = st.multiselect(
        phrase("{count} cells", count=question.most), every, key=key, max_selections=question.most,
        format_func=lambda cell: f"{row_names[cell[0]]} × {col_names[cell[1]]}",
    )  # fmt: skip
    st.session_state[marks.key(now, "cells")] = [list(cell) for cell in chosen]
    return [list(cell) for cell in chosen]


def _row(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    assert shown is not None  # a question about a row has a picture
    of = phrase("The row of “{token}”.", token=shown.maps.rows[shown.row(question.row)].text)
    st.caption(literal(f"{of} {how_rows_count()}"))
    _bars(shown, answer_drafts.row_key(now), guess=answer_drafts.weights_of(answer_drafts.heard_row(now)))
    return answer_drafts.weights_of(answer_drafts.row(now))


def drawn_row(now: OpenedLesson, shown: LinkedPicture, guess: Any, truth: Truth) -> None:
    """Draw the guessed row of weights, and animate it to the model's row."""
    _bars(shown, marks.key(now, "told"), guess=guess, truth=truth.answer)


def given_row(now: OpenedLesson, shown: LinkedPicture, guess: Any) -> None:
    """Draw the guessed row of weights, before the model's row may be shown."""
    _bars(shown, marks.key(now, "given"), guess=guess, closed=True)


def _bars(shown: LinkedPicture, key: str, **state: Any) -> None:
    words = {
        "group": phrase("Your row: drag the bars"),
        "scaled": phrase("The numbers are your bars, scaled to sum to 1."),
        "told": phrase("Bars: the model’s row. Dotted: your guess."),
    }
    data = {
        "keys": [col.text for col in shown.maps.cols],
        "guess": None,
        "truth": None,
        "closed": False,
        "words": words,
    }
    row_guess(data | state, key=key)


def _heads(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    names = [f"L{layer} H{head}" for layer, head in question.heads]
    at = _radio(now, phrase("Which head?"), names)
    return None if at is None else list(question.heads[at])


def _options(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    return _radio(now, phrase("Which one?"), [literal(option.text) for option in question.options])


def _option_or_text(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    if question.options:
        return _options(now, question, shown)
    return st.text_input(phrase("Your answer"), max_chars=200, key=marks.key(now, "said")).strip() or None


def _radio(now: OpenedLesson, label: str, names: list[str]) -> int | None:
    key = marks.key(now, "option")
    return st.radio(
        label, range(len(names)), index=None, format_func=names.__getitem__, key=key, label_visibility="collapsed"
    )


def _number(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    unit = question.unit
    label = phrase("Your number ({unit})", unit=unit) if unit else phrase("Your number")
    with st.container(key="lesson-number"):  # by this name the window's widget asks a phone for its number pad
        return answer_drafts.number_of(st.text_input(label, max_chars=40, key=marks.key(now, "number")))


def _text(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> Any:
    return st.text_area(phrase("In your own words"), max_chars=MOST_TEXT, key=marks.key(now, "text")).strip() or None


def shown_answer(question: Question, answer: Any, shown: LinkedPicture | None) -> str:
    """Format a submitted answer as text for the student; "" for a row of weights, which is drawn instead."""
    if question.kind == CELL and shown is not None:
        rows, cols = shown.maps.rows, shown.maps.cols
        return "; ".join(f"{rows[row].text} × {cols[col].text}" for row, col in answer)
    if question.kind == HEAD:
        return f"L{answer[0]} H{answer[1]}"
    if question.kind in (CHOICE, TOKEN, TRANSLATION) and question.options:
        return question.options[answer].text
    return f"{answer:g}" if question.kind == NUMBER else "" if question.kind == ROW else str(answer)


def keep(now: OpenedLesson, answer: Any) -> None:
    """Store an answer in progress in the session until the student presses the button that submits it."""
    progress(now).draft = answer


_DRAW: dict[str, Callable[[OpenedLesson, Question, LinkedPicture | None], Any]] = {
    CELL: _cells,
    ROW: _row,
    HEAD: _heads,
    TOKEN: _option_or_text,
    TRANSLATION: _option_or_text,
    NUMBER: _number,
    CHOICE: _options,
    TEXT: _text,
}
