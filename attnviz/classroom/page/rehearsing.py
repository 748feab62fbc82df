"""The buttons that start and end a rehearsal of a class with invented students."""

import streamlit as st

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import asking, following, seat
from attnviz.classroom.page.room import rehearsals, room
from attnviz.classroom.page.seat import Seat
from attnviz.classroom.rehearsal.rehearsals import MOST_STUDENTS
from attnviz.classroom.state import TeacherView

_SIZE, _USUAL = "class-rehearse-size", 20


def draw(own: Seat, found: TeacherView, *, may_begin: bool) -> None:
    """Draw the button that starts a rehearsal if `may_begin`; in a rehearsal, draw the button that ends it."""
    if found.is_rehearsal:
        _stop_button(own, found)
    elif may_begin and not found.is_over:
        _offer(own)


def _offer(own: Seat) -> None:
    with st.popover("Rehearse", icon=":material/theater_comedy:"):
        st.markdown(
            "Try this lesson with invented students. They answer at their own pace: some right, some "
            "wrong, some late, some never. A rehearsal is a separate class, which nobody can join. "
            "Your own class stays empty, and nothing from the rehearsal is stored."
        )
        st.number_input("Invented students", 1, MOST_STUDENTS, _USUAL, key=_SIZE)
        st.button("Start the rehearsal", key="class-rehearse", type="primary", on_click=_start, args=(own,))


def badge(found: TeacherView) -> str:
    """Return the badge that marks a rehearsal, as Markdown; "" for a real class."""
    return ":orange-badge[Rehearsal: all students and answers are invented] " if found.is_rehearsal else ""


def invented_note(found: TeacherView) -> str:
    """Return " invented students" to follow a number of students in a rehearsal; "" in a real class."""
    return " invented students" if found.is_rehearsal else ""


def _stop_button(own: Seat, found: TeacherView) -> None:
    st.button(
        "Stop the rehearsal", key="class-rehearse-stop", on_click=_stop, args=(own, found),
        help="Deletes the rehearsal and opens the class itself: empty, and with the pace that you have chosen here.",
    )  # fmt: skip


def _start(own: Seat) -> None:
    try:
        found = room().teachers.view(own.key)
        size, address = int(st.session_state[_SIZE]), st.context.ip_address or ""
        key = rehearsals().start(own.key, found, size, address=address)
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    asking.teach(key)


def _stop(own: Seat, found: TeacherView) -> None:
    try:
        of = rehearsals().stop(own.key)
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    seat.give_up(own)
    asking.teach(of)
    try:
        room().teachers.guide(of, is_guided=found.is_guided)
    except ClassroomError as refusal:
        following.say(str(refusal))
