"""News of a class: a fragment that draws nothing asks once a second, and has the page run again where there are any.

A page that has not changed is thus not sent again, and what is being typed stays.
"""

import streamlit as st

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.state import MemberView, TeacherView
from attnviz.ui.classes.room import room
from attnviz.ui.classes.seat import TEACHER, Seat

_EVERY = 1.0  # seconds
_SEEN = "_attnviz_class_seen"


def member_view(own: Seat) -> MemberView:
    """What a student may see now; whatever happens to the class from now on is news."""
    _note(own)
    return room().students.seen_by(own.token)


def teacher_view(own: Seat) -> TeacherView:
    """As `member_view`, of the teacher."""
    _note(own)
    return room().teachers.taught_by(own.key)


@st.fragment(run_every=_EVERY)
def watch(own: Seat) -> None:
    """Ask for news from now on, as long as the page is open."""
    try:
        is_new = _news(own) != st.session_state.get(_SEEN)
    except ClassGoneError:
        is_new = True
    except ClassroomError:  # the next second asks again
        return
    if is_new:
        st.rerun()


def _note(own: Seat) -> None:
    st.session_state[_SEEN] = None
    st.session_state[_SEEN] = _news(own)


def _news(own: Seat) -> tuple[int, ...]:
    """What a student is shown changes with `shared` alone: others' answers are no news to them."""
    if own.role == TEACHER:
        return tuple(room().teachers.version(own.key))
    return (room().students.heartbeat(own.token).shared,)
