"""A student's panel in a class: the class's step, the question, and the solution once it is revealed."""

import re

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.markdown import literal
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import answer_form, following, seat
from attnviz.classroom.page.dates import day
from attnviz.classroom.page.room import room
from attnviz.classroom.page.seat import CLASS, Seat
from attnviz.classroom.state import AFTER, MemberView
from attnviz.lessons.page import answering, companion, panel
from attnviz.lessons.page.open_lesson import OpenedLesson, open_lesson
from attnviz.lessons.page.run import picture
from attnviz.lessons.page.wording import phrase, translate
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CELL, ROW, TEXT, Question

_UNANSWERED = Translatable("You gave no answer.")


def draw(own: Seat, found: MemberView) -> None:
    """Draw a student's panel."""
    st.session_state[answer_form.IS_MORE] = False  # the whole page is being drawn
    now = open_lesson()
    if now is not None and not following.is_waiting(found):
        place = phrase("{title}, step {at} of {steps}", title=found.title, at=found.at + 1, steps=found.steps)
        panel.line(now, place)
    _head(own, found)
    if following.is_waiting(found):
        _say_if_over(found)
        _wait(found)
        return
    assert now is not None  # a class is being followed
    st.markdown(f"#### {found.step.title}\n\n{found.step.text}")
    if now.question is not None:
        st.markdown(f"**{literal(now.question.ask)}**")
    with panel.form():
        _say_if_over(found)  # here, for on a phone the form is always in sight
        if now.question is not None:
            _question(own, found, now, now.question)
        if not found.is_guided:
            _way(own, found)


def _say_if_over(found: MemberView) -> None:
    if found.is_over:
        until = phrase("The class has ended. You can look at it until {day}.", day=day(found.expires))
        st.info(until, icon=":material/flag:")


def _head(own: Seat, found: MemberView) -> None:
    with st.container(key="lesson-head", horizontal=True, vertical_alignment="center"):
        place = phrase("{at} of {steps}", at=found.at + 1, steps=found.steps)
        st.caption(literal(f"{_name(found.nickname)} · {found.title} · {place}"))
        companion.button()
        with st.popover(phrase("Leave"), type="tertiary"):
            st.markdown(
                phrase(
                    "Your answers stay with the class until it is deleted, at the latest on {day}. Your teacher can "
                    "remove them at once.",
                    day=day(found.expires),
                )
            )
            st.button(phrase("Leave the class"), key="class-leave", on_click=_leave, args=(own,))


def _name(nickname: str) -> str:
    """Return the nickname. In a class without nicknames it is “Student” and a number, in the lesson's language."""
    given = re.fullmatch(r"Student (\d+)", nickname, re.ASCII)
    return phrase("Student {number}", number=given[1]) if given else nickname


def _wait(found: MemberView) -> None:
    st.markdown(f"#### {phrase('You are in')}")
    said = (
        phrase("Waiting for the teacher to open the first step. This page goes there by itself.")
        if found.at == 0
        else phrase("Waiting for the teacher to open step {step}. This page goes there by itself.", step=found.at + 1)
    )
    st.info(said, icon=":material/hourglass:")


def _question(own: Seat, found: MemberView, now: OpenedLesson, question: Question) -> None:
    if found.round == AFTER and not found.is_revealed:
        st.caption(phrase("Second round: the same question again, after you have talked about it."))
    try:
        shown = picture(now.link)
    except ValueError as error:
        st.error(literal(str(error)))
        return
    if found.is_revealed and found.problem:
        st.error(literal(translate(found.problem)))
    elif found.is_revealed:
        panel.draw_solution(now, question, shown, unanswered=_UNANSWERED)
        _draw_first_answer(found, question, shown)
    elif question.kind == CELL:  # what is chosen is marked on the page's map, too
        answer_form.draw_answer(own)
    else:
        st.fragment(answer_form.draw_answer)(own)


def _draw_first_answer(found: MemberView, question: Question, shown: LinkedPicture | None) -> None:
    """Show the student's answer in the first round while the class is in the second."""
    if found.round == AFTER and found.first is not None and question.kind not in (ROW, TEXT):
        answer = answering.shown_answer(question, found.first, shown)
        st.caption(literal(phrase("In the first round you said {answer}.", answer=answer)))


def _leave(own: Seat) -> None:
    try:
        room().students.leave(own.token)
    except ClassroomError as refusal:
        following.say(translate(refusal))
        return
    seat.give_up(own)
    persistent.write({CLASS: None})


def _way(own: Seat, found: MemberView) -> None:
    """Draw the buttons *Back* and *Next*, for a class in which everybody works alone."""
    with st.container(horizontal=True, horizontal_alignment="distribute", key="lesson-way"):
        for key, name, at in (("back", phrase("Back"), found.at - 1), ("next", phrase("Next"), found.at + 1)):
            st.button(name, key=f"class-{key}", disabled=not 0 <= at < found.steps, on_click=_walk, args=(own, at))


def _walk(own: Seat, at: int) -> None:
    try:
        room().students.view(own.token, at)
    except ClassroomError as refusal:
        following.say(translate(refusal))
