"""What a student sees of a class: the step that it is at, the question, and what was right once it is revealed."""

from collections.abc import Callable
from uuid import uuid4

import streamlit as st

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.state import AFTER, MemberView
from attnviz.lessons.picture import Picture
from attnviz.lessons.question import CELL, ROW, TEXT, Question
from attnviz.ui.address import persistent
from attnviz.ui.classes import following, seat
from attnviz.ui.classes.dates import day
from attnviz.ui.classes.room import room
from attnviz.ui.classes.seat import CLASS, Seat
from attnviz.ui.lessons import answering, companion, drafted, panel
from attnviz.ui.lessons.opened import OpenedLesson, opened, progress
from attnviz.ui.lessons.run import picture
from attnviz.ui.markdown import literal

_SAID, _CLIENT = "_attnviz_class_said", "_attnviz_class_client"
_IS_MORE = "_attnviz_class_is_more"  # what was pressed changes more than the part of the panel that asks


def draw(own: Seat, found: MemberView) -> None:
    """The panel."""
    st.session_state[_IS_MORE] = False  # the whole page is being drawn
    _head(own, found)
    if found.is_over:
        st.info(f"The class has ended. You can look at it until {day(found.expires)}.", icon=":material/flag:")
    if following.is_waiting(found):
        _wait(found)
        return
    now = opened()
    assert now is not None  # a class is being followed
    st.markdown(f"#### {found.step.title}\n\n{found.step.text}")
    if now.question is not None:
        _question(own, found, now, now.question)
    if not found.is_guided:
        _way(own, found)


def _head(own: Seat, found: MemberView) -> None:
    with st.container(key="lesson-head", horizontal=True, vertical_alignment="center"):
        st.caption(literal(f"{found.nickname} · {found.title} · {found.at + 1} of {found.steps}"))
        companion.button()
        with st.popover("Leave", type="tertiary"):
            st.markdown(
                "Your answers stay with the class until it is deleted, at the latest on "
                f"{day(found.expires)}. Your teacher can remove them at once."
            )
            st.button("Leave the class", key="class-leave", on_click=_leave, args=(own,))


def _wait(found: MemberView) -> None:
    st.markdown("#### You are in")
    number = "first step" if found.at == 0 else f"step {found.at + 1}"
    st.info(
        f"Waiting for the teacher to open the {number}. This page goes there by itself.", icon=":material/hourglass:"
    )


def _question(own: Seat, found: MemberView, now: OpenedLesson, question: Question) -> None:
    if found.round == AFTER and not found.is_revealed:
        st.caption("Second round: the same question again, after you have talked about it.")
    st.markdown(f"**{literal(question.ask)}**")
    try:
        shown = picture(now.link)
    except ValueError as error:
        st.error(literal(str(error)))
        return
    if found.is_revealed and found.problem:
        st.error(literal(found.problem))
    elif found.is_revealed:
        panel.told(now, question, shown, unanswered="You gave no answer.")
        _first(found, question, shown)
    elif question.kind == CELL:  # what is chosen is marked on the page's map, too
        _answering(own)
    else:
        st.fragment(_answering)(own)


def _answering(own: Seat) -> None:
    """The part of the panel that an answer changes: nothing else of the page waits for it, and it waits for nothing."""
    found, now = following.view(), opened()
    if not isinstance(found, MemberView) or now is None or now.question is None or st.session_state[_IS_MORE]:
        st.rerun()
    try:
        question, shown = now.question, picture(now.link)
    except ValueError:  # the whole page says why
        st.rerun()
    if found.has_answered:
        _is_in(found, question, shown)
    elif found.may_answer:
        _asked(own, found, now, question, shown)
    else:
        st.info("Answers are closed. Waiting for the teacher.", icon=":material/hourglass:")


def _asked(own: Seat, found: MemberView, now: OpenedLesson, question: Question, shown: Picture | None) -> None:
    did = progress(now)
    did.draft = answering.draft(now, question, shown)
    panel.hints(question, found.rungs)
    place, said = st.session_state.get(_SAID, (None, ""))
    if said and place == _place(own, found):  # not a refusal of a former step or round
        st.error(literal(said), icon=":material/error:")
    with st.container(horizontal=True, key="class-answer"):
        st.button("Answer", key="class-submit", type="primary", on_click=_submit, args=(own, found, now, question))
        if not found.is_guided:
            st.button("Skip and show", key="class-skip", on_click=_skip, args=(own, found.at))
        if found.may_ask_hint:
            st.button("Hint", key="class-hint", icon=":material/lightbulb:", on_click=_hint, args=(own, found.at))


def _is_in(found: MemberView, question: Question, shown: Picture | None) -> None:
    answer = answering.shown_answer(question, found.given, shown)
    end = "" if answer.endswith((".", "!", "?", "…", "。")) else "."
    drawn = "Your row is in." if question.kind == ROW else f"Your answer is in: {answer}{end}"
    st.success(literal(f"{drawn} Waiting for the teacher."), icon=":material/check:")


def _first(found: MemberView, question: Question, shown: Picture | None) -> None:
    """What was said in the first round, where there were two."""
    if found.round == AFTER and found.first is not None and question.kind not in (ROW, TEXT):
        st.caption(literal(f"In the first round you said {answering.shown_answer(question, found.first, shown)}."))


def _submit(own: Seat, found: MemberView, now: OpenedLesson, question: Question) -> None:
    """Hand the answer in. It has one id until it is taken: handed in again after a fault, it counts once."""
    given = drafted.answer(now, question, progress(now).draft)
    place = _place(own, found)
    st.session_state[_SAID] = place, ""
    ids: dict[tuple[str, int, str], str] = st.session_state.setdefault(_CLIENT, {})
    try:
        saved = room().students.answer(
            own.token, found.at, given, in_round=found.round, client_id=ids.setdefault(place, uuid4().hex)
        )
    except ValueError as refusal:
        st.session_state[_SAID] = place, str(refusal)
        return
    ids.pop(place)
    if found.is_guided:
        following.answered(found, saved)
    else:  # what is right is shown now
        st.session_state[_IS_MORE] = True


def _place(own: Seat, found: MemberView) -> tuple[str, int, str]:
    """Which question is being answered: the class, its step and its round."""
    return own.code, found.at, found.round


def _hint(own: Seat, at: int) -> None:
    """Open the next hint, which is sent only now."""
    _further(lambda: room().students.hint(own.token, at))


def _skip(own: Seat, at: int) -> None:
    _further(lambda: room().students.skip(own.token, at))


def _further(act: Callable[[], object]) -> None:
    """Do what shows more of the step; why it was refused is said."""
    st.session_state[_IS_MORE] = True
    try:
        act()
    except ClassroomError as refusal:
        following.say(str(refusal))


def _leave(own: Seat) -> None:
    try:
        room().students.leave(own.token)
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    seat.give_up(own)
    persistent.write({CLASS: None})


def _way(own: Seat, found: MemberView) -> None:
    """Back and Next, where everybody walks alone."""
    with st.container(horizontal=True, horizontal_alignment="distribute", key="lesson-way"):
        for name, at in (("Back", found.at - 1), ("Next", found.at + 1)):
            st.button(
                name, key=f"class-{name.lower()}", disabled=not 0 <= at < found.steps, on_click=_walk, args=(own, at)
            )


def _walk(own: Seat, at: int) -> None:
    try:
        room().students.seen_by(own.token, at)
    except ClassroomError as refusal:
        following.say(str(refusal))
