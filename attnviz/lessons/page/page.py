"""The page Lessons: the list of lessons, the editor of a draft, and an open lesson without a picture on this page."""

import html
from collections.abc import Callable

import streamlit as st

from attnviz.app import hosting
from attnviz.app.address import persistent
from attnviz.app.address.navigation import origin
from attnviz.app.markdown import literal, literal_lines
from attnviz.doors import door
from attnviz.lessons.draft import NEW, clean_text, without_signatures
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import LibraryFile, listed_lessons, shelf
from attnviz.lessons.page import companion, editor, lesson_draft, panel, run, step_navigation, windows
from attnviz.lessons.page.open_lesson import first_open, is_done, is_followed, lesson_progress, open_lesson
from attnviz.lessons.page.wording import phrase
from attnviz.lessons.reading import content_of, read_text

_UPLOAD = "draft-upload"


def bar() -> None:
    """Draw the sentence that this page shows in its top bar."""
    st.markdown(phrase("**Lessons** · Each asks you to guess first. No account needed."))


def draw() -> None:
    """Draw the open lesson with the list of lessons below it, the editor, or the list alone.

    In a class only the list is drawn, because the class has a panel of its own.
    """
    _keep()
    if (now := open_lesson()) is None or is_followed():
        editor.draw() if persistent.text(editor.EDIT) else _list()
        return
    if windows.is_beside():
        said = phrase("This step has no picture. Its text is in the other window.")
        st.html(f"<p class='lesson-no-picture'>{html.escape(said)}</p>")
    with st.container(key="lesson-alone"), companion.linked_windows(companion.show_step):
        panel.draw()
        if now.link is not None and not windows.is_panel():
            st.button(
                phrase("Open this step's picture"),
                key="lesson-picture",
                on_click=step_navigation.go,
                args=(now.lesson, now.at),
            )
    if not windows.is_panel():
        st.markdown(f"#### {phrase('All lessons')}")
        _list()


def _keep() -> None:
    """Store the draft, and the names of the lessons that this visitor has finished, in the browser."""
    for one in shelf():
        if one.lesson is not None and is_done(one.lesson):
            lesson_draft.note_done(one.name)
    lesson_draft.keep()


def _list() -> None:
    found = shelf()
    lessons = listed_lessons(found)
    _draw_own_lesson([one.lesson for one in found if one.lesson is not None])
    if not lessons:
        st.info("There are no lessons. Please name a folder of Markdown files in ATTNVIZ_LESSONS.")
    following = next((one for one in lessons if one.name not in lesson_draft.desk().done), None)
    for number, one in enumerate(lessons, start=1):
        _card(one, f"{number} · {literal(one.title)}", is_following=one is following)
    if hosting.is_author():
        _draw_unlisted([one for one in found if one.lesson is None or not one.lesson.is_listed])


def _draw_unlisted(found: list[LibraryFile]) -> None:
    """Draw the list of unlisted lessons and of files with mistakes."""
    if not found:
        return
    st.markdown("##### Only you see these lessons")
    who = "Students do not see this part of the list. It is for teachers, and for a dashboard on your own machine."
    st.caption(who)
    for one in found:
        if one.lesson is not None:
            _card(
                one.lesson, literal(one.lesson.title), note=f"not listed: opens by its link, /lessons?lesson={one.name}"
            )
            continue
        with st.container(border=True, key=f"lesson-card-{one.name}"):
            st.markdown(f"**{literal(one.name)}.md**")
            st.error(literal_lines(one.problems))


def _draw_own_lesson(readable: list[Lesson]) -> None:
    """Draw the buttons for a lesson of one's own: begin it, go on with it, or open it from a file.

    Authors also get the button that makes a folder of lessons for another web host.
    """
    draft = lesson_draft.desk().text
    with st.container(horizontal=True, vertical_alignment="center", key="own-lesson"):
        if draft is None:
            st.button("Write a lesson", icon=":material/edit_note:", key="draft-begin", on_click=editor.edit, args=(0,))
        else:
            text = read_text(draft)
            title = text.head.get("title") or "without a title"
            label = f"Go on with your draft: {title} ({_steps(len(text.steps))})"
            st.button(literal(label), icon=":material/edit_note:", key="draft-begin", on_click=editor.edit, args=(0,))
            st.button("Begin another", key="draft-anew", on_click=_copy, args=(NEW,))
        with st.popover("Open a lesson's file", icon=":material/upload_file:", key="draft-file"):
            st.file_uploader("A lesson's Markdown file, as your draft", ["md"], key=_UPLOAD, on_change=_upload)
            if problem := lesson_draft.desk().said:
                st.error(literal_lines(problem.split("\n")))
        if hosting.is_author() and readable:
            with st.popover("As a folder", icon=":material/folder_zip:", key="lesson-folder"):
                _folder(readable)


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _folder(lessons: list[Lesson]) -> None:
    """Draw the form that makes a folder of lessons for any web host, as a zip file.

    A click starts it and runs all steps.
    """
    st.caption("Lessons as plain files for any web host: live pictures, answers scored and kept by the browser.")
    titles = {one.name: one.title for one in lessons}
    names = st.multiselect("Lessons", list(titles), list(titles), format_func=titles.__getitem__, key="folder-lessons")
    is_linked = st.checkbox("Link its pictures to this attnviz", key="folder-linked")
    if not st.button("Make the folder", key="folder-make", disabled=not names):
        return
    warnings: list[str] = []
    try:
        with st.spinner("Running every step …"):
            chosen = [one for one in lessons if one.name in names]
            made = _zip_file(chosen, origin() if is_linked else "", warnings.append)
    except ValueError as error:
        st.error(literal(str(error)))
        return
    if warnings:
        st.warning(literal_lines(warnings))
    st.download_button(
        f"Download lessons.zip ({len(made) / 1e6:.1f} MB)", made, "lessons.zip", "application/zip",
        key="folder-download", on_click="ignore", icon=":material/download:",
    )  # fmt: skip


def _zip_file(lessons: list[Lesson], instance: str, warn: Callable[[str], object]) -> bytes:
    """Run every step of these lessons, and return their folder as a zip file.

    Raises ValueError for a lesson that cannot be shown.
    """
    from attnviz.lessons.folder.files import folder_files, zip_folder

    hosting.ensure_turn()
    return zip_folder(folder_files(lessons, run.shown_picture, instance=instance, warn=warn), "lessons")


def _upload() -> None:
    file = st.session_state.get(_UPLOAD)
    if file is None:
        return
    try:
        lesson_draft.open_file(file.name, file.getvalue())
    except ValueError as error:
        lesson_draft.desk().said = str(error)
        return
    editor.edit(0)


def _copy(text: str) -> None:
    lesson_draft.replace(text)
    editor.edit(0)


def _copy_lesson(lesson: Lesson) -> None:
    """Make the text of a lesson's file the draft."""
    if lesson.folder is not None:
        _copy(without_signatures(clean_text(content_of(lesson.folder / f"{lesson.name}.md"))))


def _card(lesson: Lesson, title: str, *, is_following: bool = False, note: str = "") -> None:
    with st.container(border=True, key=f"lesson-card-{lesson.name}"):
        text, way = st.columns([64, 36], vertical_alignment="center")
        with text:
            is_marked = lesson.name in lesson_draft.desk().done
            done = " :green-badge[:material/check: Done]" if is_marked else ""
            st.markdown(f"**{title}**{done}  \n{lesson.about}")
            said = (
                f"{lesson.minutes} minutes · for {lesson.audience}{_done_phrase(lesson)}{f' · {note}' if note else ''}"
            )
            st.caption(literal(said))
        with way, st.container(horizontal=True, horizontal_alignment="right"):
            _ways(lesson, is_following=is_following)


def _ways(lesson: Lesson, *, is_following: bool) -> None:
    """Draw the buttons of a lesson. With `is_following`, for the next lesson to do, the first button is highlighted."""
    name, first = lesson.name, first_open(lesson)
    label = "Again" if is_done(lesson) else "Begin" if first == 0 else "Go on"
    kind = "primary" if is_following else "secondary"
    st.button(label, key=f"begin-{name}", type=kind, on_click=step_navigation.go, args=(lesson, first))
    st.button("Start a class", key=f"class-{name}", on_click=door("start_class"), args=(lesson,))
    st.button("Edit a copy", key=f"copy-{name}", on_click=_copy_lesson, args=(lesson,))


def _done_phrase(lesson: Lesson) -> str:
    over = sum(one.is_over for one in lesson_progress(lesson).values())
    return f" · {over} of {len(lesson.questions)} questions done" if over else ""
