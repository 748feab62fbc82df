"""Who this visitor is in a class: nobody yet, a student, or its teacher.

The session holds it; the browser brings it back after a reload or a sleep (attnviz/widgets/class_seat). A student's
token lies in the browser for all tabs, so that two of them are one student; a teacher's secret for its own tab.
"""

from dataclasses import dataclass

import streamlit as st

from attnviz.classroom.codes import read_code
from attnviz.classroom.state import TeacherKey
from attnviz.ui.address import persistent
from attnviz.ui.mount import class_seat
from attnviz.ui.reported import TEXT, reported

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
        """As a teacher's."""
        return TeacherKey(self.code, self.token)


def code() -> str:
    """The code that the address names; "" for none, and for what cannot be one."""
    return read_code(persistent.text(CLASS))


def current() -> Seat | None:
    """The visitor's seat in the class that the address names."""
    own: dict[str, Seat] = st.session_state.setdefault(_SEATS, {})
    told = _told()
    if told is not None and told.token != st.session_state.get(_LEFT, {}).get(told.code):
        is_better = told.role == TEACHER or told.code not in own
        if is_better:
            own[told.code] = told
    return own.get(code())


def all_taken() -> tuple[Seat, ...]:
    """Every seat of this visit, of classes that were put aside, too."""
    return tuple(st.session_state.get(_SEATS, {}).values())


def take(seat: Seat) -> None:
    """Sit down; the browser remembers it from the next run on."""
    st.session_state.setdefault(_SEATS, {})[seat.code] = seat


def give_up(seat: Seat) -> None:
    """Stand up, in the browser, too."""
    st.session_state.setdefault(_SEATS, {}).pop(seat.code, None)
    st.session_state.setdefault(_LEFT, {})[seat.code] = seat.token


def draw() -> None:
    """The part in the browser, which shows nothing. Drawn in every run of a page whose address names a class."""
    if not (of := code()):
        return
    seat, left = st.session_state.get(_SEATS, {}).get(of), st.session_state.get(_LEFT, {}).get(of, "")
    keep = None if seat is None else {"role": seat.role, "token": seat.token}
    class_seat({"code": of, "keep": keep, "left": left}, key=_KEY)


def _told() -> Seat | None:
    """What the browser says, which may be anything: whether it is true, the class knows."""
    said = reported(_KEY, "seat", {"code": TEXT, "role": TEXT, "token": TEXT})
    if said is None or said["role"] not in (STUDENT, TEACHER) or not 0 < len(said["token"]) <= _MOST_TOKEN:
        return None
    return Seat(read_code(said["code"]), said["role"], said["token"])
