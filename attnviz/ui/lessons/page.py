"""The page Lessons: the list, and an open lesson that has no picture yet, or is read on a screen of its own."""

import streamlit as st

from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import Shelved, shelf
from attnviz.lessons.question import Question
from attnviz.ui.classes import starting
from attnviz.ui.lessons import going, panel
from attnviz.ui.lessons.opened import of_lesson, opened
from attnviz.ui.markdown import literal


def bar() -> None:
    """What stands in the place of the sentence."""
    st.markdown("**Lessons** · each asks before it shows; none takes an account")


def draw() -> None:
    """The open lesson alone, or the list."""
    if (now := opened()) is None:
        _list()
        return
    with st.container(key="lesson-alone"):
        panel.draw()
        if now.link is not None:
            st.button("Open this step's picture", key="lesson-picture", on_click=going.go, args=(now.lesson, now.at))


def _list() -> None:
    found = shelf()
    if not found:
        st.info("There are no lessons: name a folder of Markdown files in ATTNVIZ_LESSONS.")
    for one in found:
        with st.container(border=True, key=f"lesson-card-{one.name}"):
            _card(one)


def _card(one: Shelved) -> None:
    if one.lesson is None:
        st.markdown(f"**{literal(one.name)}**")
        st.error(literal(f"{one.name}.md: {one.problem}"))
        return
    lesson = one.lesson
    text, way = st.columns([80, 20], vertical_alignment="center")
    with text:
        st.markdown(f"**{literal(lesson.title)}**  \n{lesson.about}")
        st.caption(literal(f"{lesson.minutes} minutes · {lesson.audience}{_done(lesson)}"))
    with way:
        first = _first_open(lesson)
        label = "Begin" if first == 0 else "Go on"
        st.button(label, key=f"begin-{one.name}", width="stretch", on_click=going.go, args=(lesson, first))
        st.button(
            "Start a class", key=f"class-{one.name}", width="stretch", on_click=starting.on_lesson, args=(lesson,)
        )


def _done(lesson: Lesson) -> str:
    over = sum(one.is_over for one in of_lesson(lesson).values())
    return f" · {over} of {len(lesson.questions)} questions done" if over else ""


def _first_open(lesson: Lesson) -> int:
    """The first step whose question is open, where any is done; else the first step."""
    did = of_lesson(lesson)
    questions: dict[int, Question] = lesson.questions
    still = [at for at in questions if at not in did or not did[at].is_over]
    return still[0] if len(still) < len(questions) and still else 0
