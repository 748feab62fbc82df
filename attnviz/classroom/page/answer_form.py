"""The part of a student's panel that takes an answer: the controls, the button, and saving the answer."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import streamlit as st

from attnviz.app.markdown import literal
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import following
from attnviz.classroom.page.dates import countdown
from attnviz.classroom.page.room import room
from attnviz.classroom.page.seat import Seat
from attnviz.classroom.state import MemberView, Receipt
from attnviz.lessons.page import answer_drafts, answering, panel
from attnviz.lessons.page.open_lesson import OpenedLesson, open_lesson, progress
from attnviz.lessons.page.run import picture
from attnviz.lessons.page.wording import phrase, translate
from attnviz.lessons.phrases import Translatable, sentence
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import ROW, Question

_CLOSED = Translatable("Answers are closed. Waiting for the teacher.")
_MAY_CHANGE = Translatable("You can change your answer until the teacher closes this step.")
_CHANGE = Translatable("Change answer")
_NOT_YET = Translatable("Your earlier answer counts until you press “{button}”.", button=_CHANGE)
IS_MORE = "_attnviz_class_is_more"  # what was pressed changes more than the part of the panel that asks
_SAID, _TRIED = "_attnviz_class_said", "_attnviz_class_tried"
_Place = tuple[str, int, str]


def draw_answer(own: Seat) -> None:
    """Draw the part of the panel that changes with an answer, as a fragment, so that the rest of the page does
    not rerun.
    """
    found, now = following.view(), open_lesson()
    if not isinstance(found, MemberView) or now is None or now.question is None or st.session_state[IS_MORE]:
        st.rerun()
    try:
        question, shown = now.question, picture(now.link)
    except ValueError:  # the whole page says why
        st.rerun()
    if found.may_answer:
        _ask(own, found, now, question, shown)
    elif found.has_answered:
        if question.kind == ROW and shown is not None and not found.is_skipped:
            answering.given_row(now, shown, found.given)
        _is_in(found, question, shown, _CLOSED)
    else:
        st.info(translate(_CLOSED), icon=":material/hourglass:")


def _ask(own: Seat, found: MemberView, now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> None:
    did = progress(now)
    did.draft = answering.draft(now, question, shown)
    panel.hints(question, found.rungs)
    if found.has_answered:
        is_same = answer_drafts.answer(now, question, did.draft) == found.given
        _is_in(found, question, shown, _MAY_CHANGE if is_same else _NOT_YET)
    if said := _refusal(own, found):
        st.error(literal(translate(said)), icon=":material/error:")
    name = translate(_CHANGE) if found.has_answered else phrase("Answer")
    kind = "secondary" if found.has_answered else "primary"
    with st.container(horizontal=True, vertical_alignment="center", key="class-answer"):
        st.button(name, key="class-submit", type=kind, on_click=_submit, args=(own, found, now, question))
        if not found.is_guided:
            st.button(phrase("Skip and show"), key="class-skip", on_click=_skip, args=(own, found.at))
        if found.may_ask_hint:
            st.button(
                phrase("Hint"), key="class-hint", icon=":material/lightbulb:", on_click=_hint, args=(own, found.at)
            )
        if found.ends is not None:  # here, for on a phone this row is always in sight
            st.fragment(countdown, run_every=1.0)(found.ends, translate)


def _is_in(found: MemberView, question: Question, shown: LinkedPicture | None, further: str) -> None:
    """Show the saved answer, followed by the sentence `further` on what the student can do next."""
    then = translate(further)
    if found.is_skipped:
        st.info(f"{phrase('You skipped this question.')} {then}", icon=":material/skip_next:")
        return
    answer = answering.shown_answer(question, found.given, shown)
    end = "" if answer.endswith((".", "!", "?", "…", "。")) else "."
    is_row = question.kind == ROW
    saved = phrase("Your row is in.") if is_row else phrase("Your answer is in: {answer}", answer=f"{answer}{end}")
    st.success(literal(f"{saved} {then}"), icon=":material/check:")


def _submit(own: Seat, found: MemberView, now: OpenedLesson, question: Question) -> None:
    saved = _hand_in(own, found, answer_drafts.answer(now, question, progress(now).draft))
    if saved is None:
        return
    if found.is_guided:
        following.note_answer(found, saved)
    else:  # the right answer is shown now
        st.session_state[IS_MORE] = True


def _hint(own: Seat, at: int) -> None:
    """Open the next hint. Its text is not sent to the browser before."""
    _reveal_more(lambda: room().students.hint(own.token, at))


def _skip(own: Seat, at: int) -> None:
    _reveal_more(lambda: room().students.skip(own.token, at))


def _reveal_more(act: Callable[[], object]) -> None:
    """Call `act`, which reveals more of the step, and let the whole page run again. A refusal is shown on the page."""
    st.session_state[IS_MORE] = True
    try:
        act()
    except ClassroomError as refusal:
        following.say(translate(refusal))


def _hand_in(own: Seat, found: MemberView, given: Any) -> Receipt | None:
    """Save the answer, and return the receipt; None if the answer was refused.

    An answer keeps its client id until it is saved, so that it counts once if it is submitted again after an error.
    A different answer gets a new id, because it replaces one that may have been saved despite the error.
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


def _refusal(own: Seat, found: MemberView) -> str:
    """Return the reason why the last answer to this question, in this round, was refused; "" if it was not."""
    place, said = st.session_state.get(_SAID, (None, ""))
    return said if place == _place(own, found) else ""


def _place(own: Seat, found: MemberView) -> _Place:
    """Return the identity of the open question: the class, its step and its round."""
    return own.code, found.at, found.round
