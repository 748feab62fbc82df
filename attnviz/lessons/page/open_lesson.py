"""The open lesson and its step, which the address names, and the visitor's progress."""

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
    """A lesson and the index of the step that is shown, counted from 0."""

    lesson: Lesson
    at: int

    @property
    def step(self) -> LessonStep:
        """The step that is shown."""
        return self.lesson.steps[self.at]

    @property
    def question(self) -> Question | None:
        """The step's question, if it has one."""
        return self.step.question

    @property
    def link(self) -> Link | None:
        """The link to the picture that the step is about."""
        return self.lesson.picture(self.at)


@dataclass
class Progress:
    """A visitor's progress with a question.

    `guess` is the submitted answer, `rungs` the number of opened hints, and `said` the reason why an answer was
    refused. In a class, `is_closed` is True while the class takes no answers, and `awaits_reveal` until the teacher
    shows the right answer.
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
        """Whether the question is answered or skipped, so that the right answer may be shown."""
        return self.is_skipped or self.marked is not None


def follow(step: tuple[OpenedLesson, Progress] | None) -> None:
    """Show this step of a class's lesson instead of the lesson in the address; with None, follow the address again."""
    st.session_state[_FOLLOWED] = step


def _class_step() -> "tuple[OpenedLesson, Progress] | None":
    return st.session_state.get(_FOLLOWED) if persistent.text("class") else None


def is_followed() -> bool:
    """Check whether the open lesson is that of a class, which stores progress itself."""
    return _class_step() is not None


def is_open() -> bool:
    """Check whether a lesson may be open, from the address or from a class, without loading it."""
    return is_followed() or bool(persistent.text(LESSON))


def open_lesson() -> OpenedLesson | None:
    """Return the lesson of the class, or the lesson that the address names.

    Return None without a lesson, for a draft that the browser has not sent yet, and for a lesson that cannot be opened.
    In the last case the page notes why.
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
    """Return the first step with an open question if another question is finished already, and the first step
    otherwise.
    """
    did = lesson_progress(lesson)
    still = [at for at in lesson.questions if at not in did or not did[at].is_over]
    return still[0] if len(still) < len(lesson.questions) and still else 0


def is_done(lesson: Lesson) -> bool:
    """Check whether every question of a lesson was answered or skipped."""
    did = lesson_progress(lesson)
    return bool(lesson.questions) and all(at in did and did[at].is_over for at in lesson.questions)


def lesson_progress(lesson: Lesson) -> dict[int, Progress]:
    """Return this visitor's progress in a lesson, by the index of the step."""
    return st.session_state.setdefault(_PROGRESS, {}).setdefault(lesson.name, {})


def forget_lessons(prefix: str, *, but: str) -> None:
    """Remove this visitor's progress in all lessons whose names begin with `prefix`, except in the lesson `but`."""
    found: dict[str, Any] = st.session_state.setdefault(_PROGRESS, {})
    for name in [name for name in found if name.startswith(prefix) and name != but]:
        del found[name]
