"""Hand an answer in, once however often it is tried, and remember its refusal."""

from typing import Any
from uuid import uuid4

import streamlit as st

from attnviz.classroom.state import MemberView, Receipt
from attnviz.lessons.phrases import sentence
from attnviz.ui.classes.room import room
from attnviz.ui.classes.seat import Seat

_SAID, _TRIED = "_attnviz_class_said", "_attnviz_class_tried"
_Place = tuple[str, int, str]


def hand_in(own: Seat, found: MemberView, given: Any) -> Receipt | None:
    """Save the answer; None where it is refused.

    It has one client id until it is taken: handed in again after a fault, it counts once. Another answer has another
    id, for it takes the place of one that may have been saved after all.
    """
    place = _place(own, found)
    st.session_state[_SAID] = place, ""
    tried: dict[_Place, tuple[Any, str]] = st.session_state.setdefault(_TRIED, {})
    if place not in tried or tried[place][0] != given:
        tried[place] = given, uuid4().hex
    try:
        saved = room().students.answer(own.token, found.at, given, in_round=found.round, client_id=tried[place][1])
    except ValueError as refusal:
        st.session_state[_SAID] = place, sentence(refusal)
        return None
    del tried[place]
    return saved


def refusal(own: Seat, found: MemberView) -> str:
    """Return why the last answer to this question was refused, "" where it was not; a refusal of a former step or
    round does not count.
    """
    place, said = st.session_state.get(_SAID, (None, ""))
    return said if place == _place(own, found) else ""


def _place(own: Seat, found: MemberView) -> _Place:
    """Return the identity of the question: the class, its step and its round."""
    return own.code, found.at, found.round
