"""The end of a lesson: what was answered, and the way to the next lesson."""

from typing import Literal

import streamlit as st

from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import shelf
from attnviz.ui.lessons import drafting, going, windows
from attnviz.ui.lessons.opened import OpenedLesson, first_open, of_lesson
from attnviz.ui.markdown import literal


def way_on(now: OpenedLesson, *, kind: Literal["primary", "secondary"]) -> None:
    """The button that follows the last step. In the panel's own window there is none: the picture's window stays at
    its lesson.
    """
    if windows.is_panel() or now.lesson.name == drafting.DRAFT:
        return
    following = _following(now.lesson)
    if following is None:
        st.button("All lessons", key="lesson-all", type=kind, on_click=going.home, args=({},))
        return
    st.button(
        "Next lesson", key="lesson-following", icon=":material/arrow_forward:", type=kind,
        help=literal(following.title), on_click=going.go, args=(following, first_open(following)),
    )  # fmt: skip


def _following(lesson: Lesson) -> Lesson | None:
    """The lesson after this one in the list, of those that can be read."""
    lessons = [one.lesson for one in shelf() if one.lesson is not None]
    names = [one.name for one in lessons]
    at = names.index(lesson.name) + 1 if lesson.name in names else len(names)
    return lessons[at] if at < len(lessons) else None


def summary(now: OpenedLesson) -> str:
    """What the visitor did in the whole lesson, in one sentence."""
    did = of_lesson(now.lesson)
    found = [did[at] for at in now.lesson.questions if at in did]
    right = sum(one.marked is not None and one.marked.is_right for one in found)
    answered = sum(one.marked is not None for one in found)
    skipped, hints = sum(one.is_skipped for one in found), sum(one.rungs for one in found)
    parts = [f"{answered or 'none'} of {len(now.lesson.questions)} answered"]
    if answered:
        parts.append(f"{right or 'none'} right" if right < answered or answered == 1 else "all right")
    if skipped:
        parts.append(f"{skipped} skipped")
    if hints:
        parts.append(f"{hints} hint{'' if hints == 1 else 's'}")
    said = ", ".join(parts)
    return f"The end. {said[0].upper()}{said[1:]}."
