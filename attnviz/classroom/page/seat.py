"""The visitor's seat in a class: it says that the visitor is a student of the class or its teacher, and proves it.

The session holds the seat, and the browser stores it so that it survives a reload (attnviz/classroom/class_seat). All
tabs of a browser share a student's token, so that two tabs are one student. A teacher's secret belongs to one tab.
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
    """Membership in the class with this `code`, as a student or as the teacher (`role`).

    `token` is the secret by which the class recognizes the student or the teacher.
    """

    code: str
    role: str
    token: str

    @property
    def key(self) -> TeacherKey:
        """The seat as a `TeacherKey`; valid only for a teacher's seat."""
        return TeacherKey(self.code, self.token)


def code() -> str:
    """Return the class's code in the address; "" if there is none, or if it cannot be a code."""
    return read_code(persistent.text(CLASS))


def current_seat() -> Seat | None:
    """Return the visitor's seat, as a student or the teacher, in the class that the address names; None without one."""
    own: dict[str, Seat] = st.session_state.setdefault(_SEATS, {})
    told = _reported_seat()
    if told is not None and told.token != st.session_state.get(_LEFT, {}).get(told.code):
        is_better = told.role == TEACHER or told.code not in own
        if is_better:
            own[told.code] = told
    return own.get(code())


def all_taken() -> tuple[Seat, ...]:
    """Return the seats of this visitor in all classes, including classes whose panel is hidden."""
    return tuple(st.session_state.get(_SEATS, {}).values())


def take(seat: Seat) -> None:
    """Store a visitor's seat in a class in the session. The next run stores it in the browser too."""
    st.session_state.setdefault(_SEATS, {})[seat.code] = seat


def give_up(seat: Seat) -> None:
    """Remove a visitor's seat in a class from the session. The next run removes it from the browser too."""
    st.session_state.setdefault(_SEATS, {}).pop(seat.code, None)
    st.session_state.setdefault(_LEFT, {})[seat.code] = seat.token


def draw() -> None:
    """Draw the invisible widget that makes the browser store the visitor's token for a class, called a seat.

    Call this in every run of a page in a class.
    """
    if not (of := code()):
        return
    seat, left = st.session_state.get(_SEATS, {}).get(of), st.session_state.get(_LEFT, {}).get(of, "")
    keep = None if seat is None else {"role": seat.role, "token": seat.token}
    class_seat({"code": of, "keep": keep, "left": left}, key=_KEY)


def _reported_seat() -> Seat | None:
    """Return the seat that the browser reports, or None. Whether its token is valid is checked by the class."""
    said = reported_value(_KEY, "seat", {"code": TEXT, "role": TEXT, "token": TEXT})
    if said is None or said["role"] not in (STUDENT, TEACHER) or not 0 < len(said["token"]) <= _MOST_TOKEN:
        return None
    return Seat(read_code(said["code"]), said["role"], said["token"])
