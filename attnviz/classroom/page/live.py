"""Updates of a class on its pages: a fragment polls for changes, and redraws what has changed.

A page without changes is not sent again, and text that is being typed stays. The whole page runs again only if
something that students are shown has changed, which is rare. Answers arrive one by one. For these only the few elements
of the teacher's screen that count answers are drawn again, which is little work, so that no answer has to wait.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.page.room import room, teachers, version
from attnviz.classroom.page.seat import Seat
from attnviz.classroom.state import ClassVersion, MemberView, TeacherView

DrawCounts = Callable[[TeacherView], None]
_EVERY = 1.0  # seconds between two questions of a student's screen
_TEACHER_EVERY = 0.5
_SEEN, _COUNTED, _IS_WHOLE = "_attnviz_class_seen", "_attnviz_class_counted", "_attnviz_class_whole"


def member_view(own: Seat) -> MemberView:
    """Return a student's view, and remember the class's version, so that `watch` notices later changes."""
    st.session_state[_SEEN] = None
    st.session_state[_SEEN] = room().students.heartbeat(own.token).shared
    return room().students.view(own.token)


def teacher_view(own: Seat) -> TeacherView:
    """Return the teacher's view, and remember the class's version, so that later changes are noticed."""
    st.session_state[_SEEN] = None
    st.session_state[_SEEN] = version(own)
    return teachers(own).view(own.key)


@st.fragment(run_every=_EVERY)
def watch(own: Seat) -> None:
    """Run a student's page again if the class has changed. Other students' answers do not count as changes."""
    try:
        is_new = room().students.heartbeat(own.token).shared != st.session_state.get(_SEEN)
    except ClassGoneError:
        is_new = True
    except ClassroomError:  # the next second asks again
        return
    if is_new:
        st.rerun()


def watch_answers(own: Seat, found: TeacherView, draw: DrawCounts) -> None:
    """Watch a class on its teacher's page. `draw` draws the counts of answers into containers of the page.

    It is called now, and again whenever the counts change.
    """
    st.session_state[_COUNTED], st.session_state[_IS_WHOLE] = found, True
    every = _TEACHER_EVERY if found.is_guided else _EVERY
    st.fragment(_counts, run_every=every)(own, draw)


def _counts(own: Seat, draw: DrawCounts) -> None:
    found: TeacherView = st.session_state[_COUNTED]
    if not st.session_state.pop(_IS_WHOLE, False):
        try:
            found = _counted_now(own, found)
        except ClassGoneError:
            st.rerun()
        except ClassroomError:  # what was read last holds, and the next moment asks again
            pass
        st.session_state[_COUNTED] = found
    draw(found)


def _counted_now(own: Seat, before: TeacherView) -> TeacherView:
    """Return the class's current view. If more than the counts of answers has changed, run the whole page again."""
    seen: ClassVersion | None = st.session_state.get(_SEEN)
    now = version(own)
    if now == seen:
        return before
    if seen is None or now.shared != seen.shared:
        st.rerun()
    found = teacher_view(own)
    if not found.is_guided or _shape(found) != _shape(before):
        st.rerun()
    return found


def _shape(found: TeacherView) -> tuple[object, ...]:
    """Return what the controls of the page depend on: the members with nicknames, and whether anyone has answered."""
    return tuple((one.id, one.nickname) for one in found.members), any(one.answered for one in found.members)
