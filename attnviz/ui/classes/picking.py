"""The teacher's choice of students' texts that the class sees."""

import streamlit as st

from attnviz.classroom.state import TeacherView
from attnviz.ui.classes import seat, teacher
from attnviz.ui.classes.room import teachers
from attnviz.ui.classes.seat import Seat
from attnviz.ui.markdown import literal

_BOX = "class-pick"


def button(found: TeacherView, in_round: str) -> None:
    """Draw a button with the number of shown texts, which opens the list of all. No text is sent to this screen
    before that.
    """
    said = found.summaries[in_round].texts
    shown = sum(one.is_picked for one in said)
    own = seat.current()
    if st.button(f"Pick texts to show ({shown} of {len(said)} shown)", key="class-picking") and own is not None:
        st.dialog("Texts of the class", width="medium", on_dismiss="rerun")(_list)(own, found, in_round)


def _list(own: Seat, found: TeacherView, in_round: str) -> None:
    st.caption(
        "Open this list where the class does not see your screen, for example with “Your link” on your phone. "
        "The class sees the texts that you tick, without names."
    )
    for one in found.summaries[in_round].texts:
        key = f"{_BOX}-{one.id}"
        st.checkbox(literal(one.text), value=one.is_picked, key=key, on_change=_pick, args=(own, one.id, key))


def _pick(own: Seat, answer: int, key: str) -> None:
    teacher.act(lambda of, **more: teachers(own).pick(of, answer, **more), own, is_picked=st.session_state[key])
