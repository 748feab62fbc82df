"""The lesson's panel in a window of its own: the button that opens it, and the messages between the two windows.

Each window tells the other where the lesson is and what was done, numbered by the time of the change: the higher number
is the newer. The text comes from a browser and may be forged, so `read_news` validates it. A window's session reveals
no more than it would with the panel in it: what it hears is an answer, a skip or a hint, and it does the same itself.
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
    """A step's question as one window has it: the `guess` that was answered, or that it `is_skipped`; the number of
    opened hints.
    """

    guess: Any = None
    is_skipped: bool = False
    rungs: int = 0


@dataclass(frozen=True)
class LessonNews:
    """The lesson's step, counted from 0, its questions by step, and the fields of the open one."""

    lesson: str
    at: int
    done: Mapping[int, StepNews] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_text(self) -> str:
        """Encode it as JSON, in ASCII."""
        done = {str(at): asdict(step) for at, step in sorted(self.done.items())}
        return json.dumps({"lesson": self.lesson, "at": self.at, "done": done, "fields": dict(self.fields)})


def read_news(text: str) -> LessonNews | None:
    """Decode the text of a window's news; return None for any other text."""
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
    """Decode a step's question. Raises ValueError for what no step can be."""
    guess, is_skipped, rungs = (said[name] for name in ("guess", "is_skipped", "rungs"))
    if not isinstance(is_skipped, bool) or not _is_count(rungs):
        raise ValueError(said)
    return StepNews(guess, is_skipped, rungs)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10_000


@dataclass
class _Told:
    """The newest that both windows know, and its number, which is 0 where there is nothing to tell, else milliseconds
    since 1970; `is_taken` until this window has drawn what it heard.
    """

    revision: int = 0
    text: str = ""
    is_taken: bool = False


@contextmanager
def linked_windows(show_picture: Callable[[], None]) -> Iterator[None]:
    """Wrap the drawing of a panel that calls `button`; `show_picture` opens the picture in this window."""
    _take()
    if navigation.is_going():
        st.rerun()
    yield
    if (place := st.session_state.pop(_SLOT, None)) is not None:
        with place:
            _draw(show_picture)


def button() -> None:
    """Reserve a place for the window's button in the panel's first line; it is drawn when the panel is."""
    st.session_state[_SLOT] = st.container(width="content")


def show_step() -> None:
    """Open the picture of the lesson's step in the next run. A button's callback."""
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
    """Return the labels of the widget's buttons and lines, by their class in it."""
    return {
        "open": phrase("Own window"),
        "elsewhere": phrase("Lesson in another window"),
        "alone": phrase("The window with the picture is closed."),
        "back": phrase("Back beside the picture") if windows.is_panel() else phrase("Bring back"),
        "here": phrase("Show the picture here"),
        "blocked": phrase("The browser has blocked the window: allow pop-ups for this page, and press again."),
    }


def _address(now: OpenedLesson) -> str:
    """Return the address of the panel alone, relative to any page's."""
    code = persistent.text("class")
    page, place = ("class", {"class": code}) if code else ("lessons", {LESSON: now.lesson.name, STEP: str(now.at + 1)})
    return f"{page}?{urlencode(place | {windows.PANEL: windows.line()})}"


def _tell(now: OpenedLesson) -> _Told:
    """Record the changes here since the windows last agreed, under a new number."""
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
    """Return the other window's message, if it is newer than the state here."""
    heard = reported_value(_KEY, "heard", {"revision": NUMBER, "text": TEXT})
    told: _Told | None = st.session_state.get(_HELD)
    return heard if heard is not None and heard["revision"] > (told.revision if told else 0) else None


def _take() -> None:
    """Repeat what the other window did, before anything is drawn that depends on it."""
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
