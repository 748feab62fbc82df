"""The teacher's controls for the class's step and whether it takes answers.

The console and the panel beside a picture use the same controls.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.app.address import navigation, persistent
from attnviz.app.markdown import literal
from attnviz.classroom.codes import format_code
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import following, live, rehearsing
from attnviz.classroom.page.dates import countdown
from attnviz.classroom.page.room import teachers
from attnviz.classroom.page.seat import CLASS, Seat
from attnviz.classroom.state import AFTER, CLOSED, OPEN, REVEALED, TeacherView
from attnviz.lessons.page import companion

_MINUTES = (1, 2, 3, 5, 10)
_TIMER = "class-timer"


def panel(own: Seat, found: TeacherView) -> None:
    """Draw the teacher's panel beside a step's picture: the question, the count of answers, the controls."""
    step = found.lesson.steps[found.class_at]
    with st.container(key="lesson-head", horizontal=True, vertical_alignment="center"):
        doing = ":orange-badge[Rehearsal]" if found.is_rehearsal else "Teaching ·"
        st.caption(f"{doing} {format_code(found.code)}")
        companion.button()
        st.button("Put aside", key="class-aside", type="tertiary", on_click=_hide_panel)
    st.markdown(f"#### {step.title}")
    if step.question is not None:
        st.markdown(f"**{literal(step.question.ask)}**")
    counts = st.container()
    controls(own, found, goes_along=True)
    st.button("The class’s answers", key="class-console", on_click=navigation.send, args=("Class", {CLASS: found.code}))

    def draw(newest: TeacherView) -> None:
        with counts:
            draw_counts(newest)

    live.watch_answers(own, found, draw)


def draw_counts(found: TeacherView) -> None:
    """Draw the number of answers, as a bar and in words."""
    here = [one for one in found.members if one.is_here]
    if found.lesson.steps[found.class_at].question is None:
        st.caption(f"{len(here)}{rehearsing.invented_note(found)} here · this step has no question")
        return
    count = sum(found.round in one.answered for one in found.members)
    among = max(count, sum(one.is_here or found.round in one.answered for one in found.members))
    said = {OPEN: "open", CLOSED: "closed", REVEALED: "revealed"}[found.state]
    second = "second round, " if found.round == AFTER else ""
    hinted = f" · {found.hinted} opened a hint" if found.hinted else ""
    done = f"{count} of {among}{rehearsing.invented_note(found)} have answered"
    if found.ends is not None:
        countdown(found.ends)
    st.progress(count / among if among else 0.0, text=f"{done} · {second}{said}{hinted}")


def controls(own: Seat, found: TeacherView, *, goes_along: bool = False) -> None:
    """Draw *Back*, *Next*, and the buttons for the class's step.

    With `goes_along` the teacher's screen also opens the step's picture.
    """
    with st.container(horizontal=True, key="class-controls", vertical_alignment="bottom"):
        _steps(own, found, goes_along=goes_along)
        if found.is_guided and not found.is_over:
            _stage(own, found)


def _steps(own: Seat, found: TeacherView, *, goes_along: bool) -> None:
    for name, at in (("Back", found.class_at - 1), ("Next", found.class_at + 1)):
        st.button(
            name, key=f"class-{name.lower()}", disabled=not 0 <= at < len(found.lesson.steps) or not found.is_guided,
            on_click=_go, args=(own, found, at, goes_along),
        )  # fmt: skip


def _stage(own: Seat, found: TeacherView) -> None:
    """Draw the buttons for the actions on the step, with the usual next action first."""
    asks = found.lesson.steps[found.class_at].question is not None
    if found.state == CLOSED:
        _button("Open", teachers(own).open, own, is_next=True)
    if not asks or found.state == REVEALED:
        return
    if found.state == OPEN:
        _button("Close", teachers(own).close, own)
    _button("Reveal", teachers(own).reveal, own, is_next=found.state == OPEN)
    if found.round != AFTER and any(one.answered for one in found.members):
        _button("Ask again", teachers(own).ask_again, own)
    if found.state == OPEN:
        _timer(own, found)


def _timer(own: Seat, found: TeacherView) -> None:
    """Draw the choice of minutes for the open question. Each choice restarts the timer and closes the popover."""
    with st.popover("Timer", icon=":material/timer:", key=_TIMER, on_change="rerun"):
        st.markdown(
            "The time is counted down on this screen and on the phones. At 0 the step stays open until you close it."
        )
        with st.container(horizontal=True):
            for minutes in _MINUTES:
                _minutes_button(own, f"{minutes} min", minutes)
            if found.ends is not None:
                _minutes_button(own, "No timer", None)


def _minutes_button(own: Seat, name: str, minutes: float | None) -> None:
    st.button(name, key=f"{_TIMER}-{minutes or 'none'}", on_click=_set_timer, args=(own, minutes))


def _set_timer(own: Seat, minutes: float | None) -> None:
    st.session_state[_TIMER] = False
    act(lambda key: teachers(own).set_timer(key, minutes=minutes), own)


def _button(name: str, does: Callable[..., None], own: Seat, *, is_next: bool = False) -> None:
    kind = "primary" if is_next else "secondary"
    st.button(name, key=f"class-{name.lower().replace(' ', '-')}", type=kind, on_click=act, args=(does, own))


def act(does: Callable[..., None], own: Seat, **more: bool) -> None:
    """Call one of the teacher's functions for this seat's class. A refusal is shown on the page."""
    try:
        does(own.key, **more)
    except ClassroomError as refusal:
        following.say(str(refusal))


def _go(own: Seat, found: TeacherView, at: int, goes_along: bool) -> None:
    try:
        teachers(own).go(own.key, at)
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    if goes_along:
        navigation.send(*following.teacher_address(found.code, found.lesson, at, is_revealed=False))


def _hide_panel() -> None:
    """Hide the class's panel. The class goes on, and its link opens the panel again."""
    persistent.write({CLASS: None})
