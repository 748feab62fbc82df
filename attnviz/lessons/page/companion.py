"""The lesson's panel in a window of its own: the button that opens it, and the messages between the two windows.

Each window sends the other its step and what was done there. A message is numbered by the time of the change, so the
higher number is the newer message. The text comes from a browser and may be forged, so `read_news` validates it. A
message contains an answer, a skip or a hint, which the receiving window repeats itself. A forged message therefore
reveals nothing that a visitor could not see with the panel in the same window.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attnviz.app.address import navigation, persistent
from attnviz.app.mount import lesson_window
from attnviz.app.reports import NUMBER, TEXT, reported_value
from attnviz.lessons.page import answer_drafts, judging, step_navigation, windows
from attnviz.lessons.page.open_lesson import (
    LESSON,
    STEP,
    OpenedLesson,
    Progress,
    is_followed,
    lesson_progress,
    open_lesson,
    progress,
)
from attnviz.lessons.page.run import picture
from attnviz.lessons.page.wording import phrase

_KEY, _HELD, _SLOT = "lesson-window", "_attnviz_lesson_told", "_attnviz_lesson_slot"
_MOST_TEXT = 200_000  # characters
_MOST_STEPS = 60


@dataclass(frozen=True)
class StepNews:
    """The state of a step's question in one window: the submitted `guess`, whether it `is_skipped`, and the
    opened hints.
    """

    guess: Any = None
    is_skipped: bool = False
    rungs: int = 0


@dataclass(frozen=True)
class LessonNews:
    """A window's message: the lesson, its step counted from 0, finished questions by step, and the open
    question's fields.
    """

    lesson: str
    at: int
    done: Mapping[int, StepNews] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_text(self) -> str:
        """Encode the message as ASCII JSON."""
        done = {str(at): asdict(step) for at, step in sorted(self.done.items())}
        return json.dumps({"lesson": self.lesson, "at": self.at, "done": done, "fields": dict(self.fields)})


def read_news(text: str) -> LessonNews | None:
    """Decode a message from the other window. Return None for any other text."""
    if len(text) > _MOST_TEXT:
        return None
    try:
        found = json.loads(text)
        lesson, at, done, fields = (found[name] for name in ("lesson", "at", "done", "fields"))
        steps = {int(number): _read_step(said) for number, said in done.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    is_news = isinstance(lesson, str) and _is_count(at) and isinstance(fields, dict) and len(steps) <= _MOST_STEPS
    return LessonNews(lesson, at, steps, fields) if is_news else None


def _read_step(said: Mapping[str, Any]) -> StepNews:
    """Decode the state of a step's question. Raises ValueError for invalid values."""
    guess, is_skipped, rungs = (said[name] for name in ("guess", "is_skipped", "rungs"))
    if not isinstance(is_skipped, bool) or not _is_count(rungs):
        raise ValueError(said)
    return StepNews(guess, is_skipped, rungs)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10_000


@dataclass
class _Told:
    """The newest message that both windows know.

    `revision` is its number in milliseconds since 1970, or 0 if there is no message yet. `is_taken` is True from when
    a message was received until this window has drawn its content.
    """

    revision: int = 0
    text: str = ""
    is_taken: bool = False


@contextmanager
def linked_windows(show_picture: Callable[[], None]) -> Iterator[None]:
    """Connect this window with the other one while a panel that calls `button` is drawn inside this context.

    `show_picture` is a callback that opens the picture in this window.
    """
    _take()
    if navigation.is_going():
        st.rerun()
    yield
    if (place := st.session_state.pop(_SLOT, None)) is not None:
        with place:
            _draw(show_picture)


def button() -> None:
    """Reserve a place in the panel's first line for the button that opens a window. The button is drawn later."""
    st.session_state[_SLOT] = st.container(width="content")


def show_step() -> None:
    """Open the picture of the lesson's step in the next run. Buttons use this as their callback."""
    if (now := open_lesson()) is not None:
        step_navigation.go(now.lesson, now.at)


def _draw(show_picture: Callable[[], None]) -> None:
    now = open_lesson()
    if now is None:
        return
    told = _tell(now)
    data = {
        "name": windows.line(),
        "role": "panel" if windows.is_panel() else "picture",
        "isLinked": windows.is_panel() or windows.is_beside(),
        "revision": told.revision,
        "text": told.text,
        "address": _address(now),
        "words": _words(),
    }

    def return_here() -> None:
        persistent.write({windows.PANEL: None})
        show_picture()

    def open_window() -> None:
        persistent.write({windows.BESIDE: windows.line()})
        if persistent.page() == step_navigation.HOME:
            show_picture()

    lesson_window(data, key=_KEY, on_open=open_window, on_return=return_here, on_heard=_take)
    if _newer_message() is not None:  # with the first run after the server was restarted: the next one takes it
        st.rerun()


def _words() -> dict[str, str]:
    """Return the translated texts of the buttons and lines in the widget that connects the windows, by name."""
    return {
        "open": phrase("Own window"),
        "elsewhere": phrase("Lesson in another window"),
        "alone": phrase("The window with the picture is closed."),
        "back": phrase("Back beside the picture") if windows.is_panel() else phrase("Bring back"),
        "here": phrase("Show the picture here"),
        "blocked": phrase("The browser has blocked the window. Please allow pop-ups for this page, and press again."),
    }


def _address(now: OpenedLesson) -> str:
    """Return the address of the panel's own window, relative to the address of any page."""
    code = persistent.text("class")
    page, place = ("class", {"class": code}) if code else ("lessons", {LESSON: now.lesson.name, STEP: str(now.at + 1)})
    return f"{page}?{urlencode(place | {windows.PANEL: windows.line()})}"


def _tell(now: OpenedLesson) -> _Told:
    """Return the message for the other window. It gets a new number if something was done in this window since the last
    one.
    """
    told: _Told | None = st.session_state.get(_HELD)
    found = _news(now)
    text = found.to_text()
    if told is None:  # a visit begins, perhaps by a reload: where it is, the address says, or the class knows
        told = st.session_state[_HELD] = _Told(is_taken=is_followed() or not (found.done or found.fields))
    if told.text != text and not told.is_taken:
        told.revision = max(told.revision + 1, int(time.time() * 1000))
    told.text, told.is_taken = text, False
    return told


def _news(now: OpenedLesson) -> LessonNews:
    question = now.question
    is_open = question is not None and not progress(now).is_over
    return LessonNews(
        now.lesson.name, now.at, _step_news(now), answer_drafts.fields(now, question) if is_open and question else {}
    )


def _step_news(now: OpenedLesson) -> dict[int, StepNews]:
    did = {now.at: progress(now)} if is_followed() else lesson_progress(now.lesson)
    found = {at: StepNews(one.guess, one.is_skipped, one.rungs) for at, one in did.items()}
    return {at: one for at, one in found.items() if one != StepNews()}


def _newer_message() -> dict[str, Any] | None:
    """Return the other window's message if it is newer than this window's state, and None otherwise."""
    heard = reported_value(_KEY, "heard", {"revision": NUMBER, "text": TEXT})
    told: _Told | None = st.session_state.get(_HELD)
    return heard if heard is not None and heard["revision"] > (told.revision if told else 0) else None


def _take() -> None:
    """Repeat what was done in the other window, before anything is drawn that depends on it."""
    if (heard := _newer_message()) is None:
        return
    st.session_state[_HELD] = _Told(heard["revision"], is_taken=True)
    found, now = read_news(heard["text"]), open_lesson()
    if found is None or now is None or found.lesson != now.lesson.name:
        return
    if not is_followed():  # a class knows by itself
        _do_the_same(now, found.done)
        if found.at != now.at and found.at < len(now.lesson.steps):
            step_navigation.go(now.lesson, found.at)
            now = OpenedLesson(now.lesson, found.at)
    if now.question is not None and found.at == now.at and not progress(now).is_over:
        answer_drafts.take_over(now, now.question, found.fields)


def _do_the_same(now: OpenedLesson, done: Mapping[int, StepNews]) -> None:
    for at, question in now.lesson.questions.items():
        if (other := done.get(at)) is None:
            continue
        did = lesson_progress(now.lesson).setdefault(at, Progress())
        did.rungs = max(did.rungs, min(other.rungs, question.rungs))
        if did.is_over or not (other.is_skipped or other.guess is not None):
            continue
        try:
            shown = picture(now.lesson.picture(at))
        except ValueError:  # the panel says so when it comes to the step
            continue
        if other.is_skipped:
            judging.skip(did, question, shown)
        else:
            judging.answer(did, question, shown, other.guess)
