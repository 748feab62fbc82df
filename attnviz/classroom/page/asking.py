"""Starting a class, on a lesson or with the form *Ask the room* on one question about the page's picture.

The visitor who starts a class becomes its teacher.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from attnviz.app.address import navigation
from attnviz.app.markdown import literal
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import following, seat
from attnviz.classroom.page.room import room
from attnviz.classroom.page.seat import CLASS, TEACHER, Seat
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.page.run import picture
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, TOKEN, TRANSLATION, Question

# Each kind of question: its name, and its usual question.
_KINDS: Mapping[str, tuple[str, str]] = {
    CELL: ("Click the cell of most weight", "Which cell has most weight?"),
    ROW: ("Draw a row", "How is the weight of this row shared out?"),
    HEAD: ("Which of these heads", "Which of these heads is it?"),
    TOKEN: ("What is written next", "What does the model write here?"),
    TRANSLATION: ("What the model writes", "What does the model write?"),
    NUMBER: ("A number", "How large is it?"),
    CHOICE: ("One of several answers", ""),
    TEXT: ("In their own words", ""),
}
_LABELS = {
    "ask": "Question", "row": "Row", "most": "How many cells", "heads": "Heads to choose from", "by": "The largest",
    "measure": "Which number", "within": "Right within", "options": "Answers to choose from",
    "right": "Which line is right", "why": "Why it is so",
}  # fmt: skip
_WITHOUT_PICTURE = (CHOICE, TEXT)
_MOST_ASKED, _MOST_OPTIONS = 300, 8
_ROWS = (CELL, ROW, TOKEN)


def draw_asking_form(page: str, query: str) -> None:
    """Draw the form for the question. A mistake is shown below the form, and typed texts stay."""
    link = Link(page, dict(parse_qsl(query)))
    st.markdown("One question about the picture on this page. Students join with a code and answer on their phones.")
    try:
        shown = picture(link)
    except ValueError:
        shown = None
    kinds = list(_KINDS if shown is not None else _WITHOUT_PICTURE)
    kind = st.selectbox("Kind of question", kinds, format_func=lambda one: _KINDS[one][0], key="ask-kind")
    asked = _KINDS[kind][1]
    ask = st.text_input("Question", asked, max_chars=_MOST_ASKED, key=f"ask-question-{kind}")
    said = {"kind": kind, "ask": ask.strip()}
    said |= _fields(kind, shown)
    if why := st.text_area("Why it is so (shown with the answer; optional)", key="ask-why").strip():
        said["why"] = why
    if st.button("Start", type="primary", key="ask-start"):
        _start(link, said, shown)


def _fields(kind: str, shown: LinkedPicture | None) -> dict[str, Any]:
    """Draw the additional fields of a kind of question, and return their values by name."""
    found: dict[str, Any] = {}
    if kind in _ROWS and shown is not None:
        found |= _row(shown, may_be_none=kind == CELL)
    if kind == CELL:
        found["most"] = str(st.number_input("How many cells", 1, 5, 1, key="ask-most"))
    if kind == HEAD:
        found |= _heads()
    if kind == NUMBER and shown is not None:
        found |= _number(shown)
    if kind in (CHOICE, TOKEN, TRANSLATION):
        found |= _options(kind)
    return found


def _row(shown: LinkedPicture, *, may_be_none: bool) -> dict[str, str]:
    names = [f"{at}  {row.text}" for at, row in enumerate(shown.maps.rows)]
    places = [None, *range(len(names))] if may_be_none else list(range(len(names)))
    at = st.selectbox(
        "Row", places, format_func=lambda place: "the whole map" if place is None else names[place], key="ask-row"
    )
    return {} if at is None else {"row": str(at)}


def _heads() -> dict[str, Any]:
    from attnviz.analysis.metric_table import METRICS

    typed = st.text_input("Heads to choose from", placeholder="L0 H7, L1 H3, L2 H5", key="ask-heads")
    by = st.selectbox("The largest", list(METRICS), format_func=lambda name: name.replace("_", " "), key="ask-by")
    return {"heads": [part.strip() for part in typed.split(",") if part.strip()], "by": by}


def _number(shown: LinkedPicture) -> dict[str, str]:
    from attnviz.lessons.measures import MEASURES

    names = [name for name, one in MEASURES.items() if set(one.needs) <= {"row"}]
    measure = st.selectbox(
        "Which number", names, format_func=lambda name: f"{name.replace('_', ' ')}: {MEASURES[name].means}",
        key="ask-measure",
    )  # fmt: skip
    found = {"measure": measure}
    if "row" in MEASURES[measure].needs:
        found |= _row(shown, may_be_none=False)
    within = st.number_input("Right within", 0.0, value=0.05, format="%g", key="ask-within")
    return found | {"within": f"{within:g}"}


def _options(kind: str) -> dict[str, Any]:
    label = "Answers to choose from, one per line"
    may = "" if kind == CHOICE else " (optional: without them, students type)"
    typed = st.text_area(f"{label}{may}", key=f"ask-options-{kind}")
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    found: dict[str, Any] = {"options": lines} if lines or kind == CHOICE else {}
    if kind == CHOICE:
        most = max(1, min(len(lines), _MOST_OPTIONS))
        found["right"] = str(st.number_input("Which line is right", 1, most, 1, key="ask-right"))
    return found


def _start(link: Link, said: Mapping[str, Any], shown: LinkedPicture | None) -> None:
    try:
        _ask_the_room(_question(said, shown), None if shown is None and link.page != "Learning" else link)
    except ValueError as problem:
        st.error(literal(str(problem)), icon=":material/error:")
        return
    st.rerun()


def _question(said: Mapping[str, Any], shown: LinkedPicture | None) -> Question:
    """Make the question from the form's values, and check that its answer can be computed from the picture.

    Raises ValueError if a value is wrong, or if the picture has no answer.
    """
    from attnviz.lessons.answers import truth_of
    from attnviz.lessons.block import question_of
    from attnviz.lessons.faults import LessonError

    _require_all(said)
    try:
        question = question_of(said)
        truth_of(question, shown)
    except LessonError as error:
        raise ValueError(error.faults[0].form_sentence(lambda field: _LABELS.get(field, field))) from None
    return question


def _require_all(said: Mapping[str, Any]) -> None:
    """Raise ValueError if a required field of the form is empty."""
    if not said["ask"]:
        raise ValueError("Type the question first.")
    if "options" in said and not 2 <= len(said["options"]) <= _MOST_OPTIONS:
        raise ValueError(f"Type 2 to {_MOST_OPTIONS} answers to choose from, one per line.")
    if "heads" in said and not said["heads"]:
        raise ValueError("Name 2 to 8 heads to choose from, such as L0 H7, L1 H3.")


def start_class(lesson: Lesson) -> None:
    """Start a class on a lesson, and open its console. Buttons use this as their callback."""
    try:
        key = room().teachers.start(lesson, address=st.context.ip_address or "")
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    teach(key)


def _ask_the_room(question: Question, link: Link | None) -> None:
    """Start a class on a single question. Raises ValueError if the class is refused."""
    teach(room().teachers.ask_the_room(question, link, address=st.context.ip_address or ""))


def teach(key: TeacherKey) -> None:
    """Make this visitor the teacher of the class with this key, and open the class's console in the next run."""
    seat.take(Seat(key.code, TEACHER, key.secret))
    navigation.send(following.HOME, {CLASS: key.code})
