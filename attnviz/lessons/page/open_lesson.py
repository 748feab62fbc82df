"""The open lesson and its step, as the address names them, and the visitor's progress."""

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.frame.page import current_page
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.library import lesson_named
from attnviz.lessons.page import lesson_draft
from attnviz.lessons.question import Question
from attnviz.lessons.scoring import AnswerScore, Truth

LESSON, STEP = "lesson", "lesson_step"
_PROGRESS, _FOLLOWED = "_attnviz_lessons", "_attnviz_followed"


@dataclass(frozen=True)
class OpenedLesson:
    """A lesson and the step that is shown, counted from 0."""

    lesson: Lesson
    at: int

    @property
    def step(self) -> LessonStep:
        """The step."""
        return self.lesson.steps[self.at]

    @property
    def question(self) -> Question | None:
        """The step's question, if it has one."""
        return self.step.question

    @property
    def link(self) -> Link | None:
        """The picture that the step is about."""
        return self.lesson.picture(self.at)


@dataclass
class Progress:
    """A visitor's progress with a question. `guess` is the given answer, `rungs` the number of opened hints, `said`
    why an answer was refused. In a class `is_closed` says that the class takes no answers now, and `awaits_reveal` that
    the teacher has yet to show the right answer.
    """

    guess: Any = None
    truth: Truth | None = None
    marked: AnswerScore | None = None
    is_skipped: bool = False
    rungs: int = 0
    said: str = ""
    draft: Any = field(default=None)
    is_closed: bool = False
    awaits_reveal: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the answer may be seen."""
        return self.is_skipped or self.marked is not None


def follow(step: tuple[OpenedLesson, Progress] | None) -> None:
    """Follow a class's step instead of the lesson that the address names; None for no class."""
    st.session_state[_FOLLOWED] = step


def _class_step() -> "tuple[OpenedLesson, Progress] | None":
    return st.session_state.get(_FOLLOWED) if persistent.text("class") else None


def is_followed() -> bool:
    """Check whether a class is followed, which keeps its own progress."""
    return _class_step() is not None


def is_open() -> bool:
    """Check whether there may be a lesson, one's own or a class's: cheap."""
    return is_followed() or bool(persistent.text(LESSON))


def open_lesson() -> OpenedLesson | None:
    """Return the lesson that a class follows, or that the address names. Return None if there is no such lesson, for a
    draft that the browser has yet to bring, and for a lesson that cannot be opened; then a note says so as long as the
    address names the lesson.
    """
    if followed := _class_step():
        return followed[0]
    name = persistent.text(LESSON)
    if not name:
        return None
    try:
        lesson = lesson_draft.lesson() if name == lesson_draft.DRAFT else lesson_named(name)
    except ValueError as error:
        current_page().add(str(error))
        return None
    if lesson is None:
        return None
    said = persistent.text(STEP, "1")
    number = int(said) if said.isdecimal() and len(said) < 4 else 1
    return OpenedLesson(lesson, min(max(number, 1), len(lesson.steps)) - 1)


def progress(now: OpenedLesson) -> Progress:
    """Return this visitor's progress with a step."""
    followed = _class_step()
    if followed and followed[0] == now:
        return followed[1]
    return lesson_progress(now.lesson).setdefault(now.at, Progress())


def first_open(lesson: Lesson) -> int:
    """Return the first step whose question is open, where any is done; else the first step."""
    did = lesson_progress(lesson)
    still = [at for at in lesson.questions if at not in did or not did[at].is_over]
    return still[0] if len(still) < len(lesson.questions) and still else 0


def is_done(lesson: Lesson) -> bool:
    """Check whether every question was answered, or skipped."""
    did = lesson_progress(lesson)
    return bool(lesson.questions) and all(at in did and did[at].is_over for at in lesson.questions)


def lesson_progress(lesson: Lesson) -> dict[int, Progress]:
    """Return this visitor's progress in a lesson, by step."""
    return st.session_state.setdefault(_PROGRESS, {}).setdefault(lesson.name, {})


def forget_lessons(prefix: str, *, but: str) -> None:
    """Forget this visitor's progress in lessons whose names begin with a prefix, except in one lesson."""
    found: dict[str, Any] = st.session_state.setdefault(_PROGRESS, {})
    for name in [name for name in found if name.startswith(prefix) and name != but]:
        del found[name]
