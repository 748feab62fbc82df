"""The page Lessons: the list, the editor of a draft, and an open lesson that has no picture yet, or is read on a screen
of its own.
"""

import streamlit as st

from attnviz.lessons.draft import Draft
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import Shelved, shelf
from attnviz.lessons.question import Question
from attnviz.lessons.writing import draft_of
from attnviz.ui.address import persistent
from attnviz.ui.classes import starting
from attnviz.ui.lessons import companion, drafting, editor, going, panel, windows
from attnviz.ui.lessons.opened import is_followed, of_lesson, opened
from attnviz.ui.markdown import literal

_UPLOAD = "draft-upload"


def bar() -> None:
    """What stands in the place of the sentence."""
    st.markdown("**Lessons** · each asks before it shows; none takes an account")


def draw() -> None:
    """The open lesson alone, or the list; a class has its own panel beside it."""
    drafting.keep()
    if (now := opened()) is None or is_followed():
        editor.draw() if persistent.text(editor.EDIT) else _list()
        return
    if windows.is_beside():
        st.html("<p class='lesson-no-picture'>This step has no picture. The other window has its text.</p>")
    with st.container(key="lesson-alone"), companion.attached(companion.show_step):
        panel.draw()
        if now.link is not None and not windows.is_panel():
            st.button("Open this step's picture", key="lesson-picture", on_click=going.go, args=(now.lesson, now.at))


def _list() -> None:
    found = shelf()
    _own()
    if not found:
        st.info("There are no lessons: name a folder of Markdown files in ATTNVIZ_LESSONS.")
    for one in found:
        with st.container(border=True, key=f"lesson-card-{one.name}"):
            _card(one)


def _own() -> None:
    """The way to a lesson of one's own: begun, gone on with, or opened from a file."""
    draft = drafting.desk().draft
    with st.container(horizontal=True, vertical_alignment="center", key="own-lesson"):
        if draft is None:
            st.button("Write a lesson", icon=":material/edit_note:", key="draft-begin", on_click=editor.edit, args=(0,))
        else:
            label = f"Go on with your draft: {draft.title or 'without a title'} ({len(draft.steps)} steps)"
            st.button(literal(label), icon=":material/edit_note:", key="draft-begin", on_click=editor.edit, args=(0,))
            st.button("Begin another", key="draft-anew", on_click=_copy, args=(Draft(),))
        with st.popover("Open a lesson's file", icon=":material/upload_file:", key="draft-file"):
            st.file_uploader("A lesson's Markdown file, as your draft", ["md"], key=_UPLOAD, on_change=_upload)
            if problem := drafting.desk().said:
                st.error(literal(problem))


def _upload() -> None:
    file = st.session_state.get(_UPLOAD)
    if file is None:
        return
    try:
        drafting.open_file(file.name, file.getvalue())
    except ValueError as error:
        drafting.desk().said = str(error)
        return
    editor.edit(0)


def _copy(draft: Draft) -> None:
    drafting.replace(draft)
    editor.edit(0)


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
        st.button("Edit a copy", key=f"copy-{one.name}", width="stretch", on_click=_copy, args=(draft_of(lesson),))
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
