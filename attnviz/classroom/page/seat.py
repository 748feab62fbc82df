"""The visitor's seat in a class: none, a student's, or its teacher's.

The session holds it; the browser brings it back after a reload or a sleep (attnviz/classroom/class_seat). A student's
token lies in the browser for all tabs, so that two of them are one student; a teacher's secret for its own tab.
"""

from dataclasses import dataclass

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.mount import class_seat
from attnviz.app.reports import TEXT, reported_value
from attnviz.classroom.codes import read_code
from attnviz.classroom.state import TeacherKey

CLASS = "class"  # the name of a class's code in an address
STUDENT, TEACHER = "student", "teacher"
_SEATS, _LEFT, _KEY = "_attnviz_seats", "_attnviz_seats_left", "class-seat"
_MOST_TOKEN = 200  # characters


@dataclass(frozen=True)
class Seat:
    """A place in the class of that code; `token` is a student's, or a teacher's secret."""

    code: str
    role: str
    token: str

    @property
    def key(self) -> TeacherKey:
        """The teacher's key."""
        return TeacherKey(self.code, self.token)


def code() -> str:
    """Return the code that the address names; "" for none, and for what cannot be one."""
    return read_code(persistent.text(CLASS))


def current_seat() -> Seat | None:
    """Return the visitor's seat in the class that the address names."""
    own: dict[str, Seat] = st.session_state.setdefault(_SEATS, {})
    told = _reported_seat()
    if told is not None and told.token != st.session_state.get(_LEFT, {}).get(told.code):
        is_better = told.role == TEACHER or told.code not in own
        if is_better:
            own[told.code] = told
    return own.get(code())


def all_taken() -> tuple[Seat, ...]:
    """Return every seat of this visit, of classes that were put aside, too."""
    return tuple(st.session_state.get(_SEATS, {}).values())


def take(seat: Seat) -> None:
    """Take a seat; the browser remembers it from the next run on."""
    st.session_state.setdefault(_SEATS, {})[seat.code] = seat


def give_up(seat: Seat) -> None:
    """Give a seat up, in the browser, too."""
    st.session_state.setdefault(_SEATS, {}).pop(seat.code, None)
    st.session_state.setdefault(_LEFT, {})[seat.code] = seat.token


def draw() -> None:
    """Draw the widget that keeps the seat in the browser, in every run of a page whose address names a class. It
    shows nothing.
    """
    if not (of := code()):
        return
    seat, left = st.session_state.get(_SEATS, {}).get(of), st.session_state.get(_LEFT, {}).get(of, "")
    keep = None if seat is None else {"role": seat.role, "token": seat.token}
    class_seat({"code": of, "keep": keep, "left": left}, key=_KEY)


def _reported_seat() -> Seat | None:
    """Return the seat that the browser reports; only the class can tell whether its token is valid."""
    said = reported_value(_KEY, "seat", {"code": TEXT, "role": TEXT, "token": TEXT})
    if said is None or said["role"] not in (STUDENT, TEACHER) or not 0 < len(said["token"]) <= _MOST_TOKEN:
        return None
    return Seat(read_code(said["code"]), said["role"], said["token"])
