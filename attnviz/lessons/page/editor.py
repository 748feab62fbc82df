"""The editor of a draft: a field with the lesson's Markdown, the findings of the check, and a preview.

The preview shows the step at the caret as a student sees it.
"""

import hashlib
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.app import charts, hosting
from attnviz.app.address import persistent, widgets
from attnviz.app.markdown import literal, literal_lines
from attnviz.doors import door
from attnviz.heads.page.tabs import titles
from attnviz.lessons.check import CheckedBlock, Remark, StepCheck, check_step, check_text
from attnviz.lessons.draft import (
    MOST_TEXT,
    NEW,
    TEMPLATES,
    field_on,
    file_name,
    insert_question,
    offers,
    replace_value,
    step_at,
)
from attnviz.lessons.folder.claims import untrue_claims
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.page import lesson_draft, panel, step_navigation
from attnviz.lessons.page.open_lesson import OpenedLesson, forget_lessons, lesson_progress, progress
from attnviz.lessons.page.run import picture, shown_picture
from attnviz.lessons.page.wording import preview_in
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.reading import ReadText, read_text

_TALLEST = 400  # pixels
_DRAWN = ("heads", "links")
EDIT = "edit"  # in the address: the number of a step, whose line the caret is taken to be on; 0 for the first lines
_TEXT, _INSERT, _OFFER = "draft-text", "draft-insert", "draft-offer"
_HIGH = 640  # pixels


def draw() -> None:
    """Draw the editor of this visitor's draft."""
    desk = lesson_draft.desk()
    draft = NEW if desk.text is None else desk.text
    text = read_text(draft)
    with st.container(key="draft"):
        _tools(draft, text)
        with st.container(key="draft-told"):  # always drawn, so that everything below keeps its place
            if desk.said:
                st.error(literal_lines(desk.said.split("\n")))
        field, side = st.columns([54, 46], gap="medium")
        with field, st.container(key="draft-field"):
            _field(draft)
        with side, st.container(key="draft-side"):
            _blocks(draft, text)


def edit(number: int) -> None:
    """Open the editor at the step with this number, counted from 1."""
    lesson_draft.desk().line = 0
    persistent.write({EDIT: str(number)})


def _line(text: ReadText) -> int:
    """Return the caret's line. Until the browser has reported it, return the first line of the step in the address."""
    if line := lesson_draft.desk().line:
        return line
    said = persistent.text(EDIT)
    at = min(int(said) if said.isdecimal() and len(said) < 4 else 0, len(text.steps))
    return text.steps[at - 1].line if at else 1


def _tools(draft: str, text: ReadText) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="draft-bar"):
        st.button(
            "All lessons", icon=":material/arrow_back:", key="draft-leave", on_click=persistent.write,
            args=({EDIT: None},),
        )  # fmt: skip
        at = max(step_at(text, _line(text)) - 1, 0)
        st.button("Try it", icon=":material/play_arrow:", key="draft-try", type="primary", on_click=_try, args=(at,))
        st.button("Start a class", icon=":material/groups:", key="draft-class", on_click=_start_class)
        st.selectbox(
            "Insert a question", list(TEMPLATES), index=None, placeholder="Insert a question …", key=_INSERT,
            label_visibility="collapsed", on_change=_insert, width=230,
        )  # fmt: skip
        st.download_button(
            "Download", draft, file_name(text.head.get("title", "")), "text/markdown", key="draft-download",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip
        if lesson_draft.desk().former is not None:
            st.button("Bring back the previous draft", key="draft-former", on_click=lesson_draft.bring_back)


def _field(draft: str) -> None:
    """Draw the text field. The browser reports its text when the user stops typing."""

    def draw_area(**more: Any) -> str | None:
        return st.text_area(
            "The lesson (Markdown)", max_chars=MOST_TEXT, height=_HIGH, label_visibility="collapsed", **more
        )

    widgets.show(_TEXT, draft, {"value": draft}, draw_area, lambda: lesson_draft.change(st.session_state[_TEXT] or ""))


def _insert() -> None:
    """Insert the chosen kind of question into the step at the caret."""
    if (chosen := st.session_state.get(_INSERT)) is None:
        return
    st.session_state[_INSERT] = None
    draft = lesson_draft.desk().text or NEW
    text = read_text(draft)
    lesson_draft.change(insert_question(draft, text, _line(text), TEMPLATES[chosen]))


def _try(at: int) -> None:
    if (lesson := _finish()) is not None:
        lesson_draft.forget_answers(lesson_progress(lesson))
        step_navigation.go(lesson, min(at, len(lesson.steps) - 1))


def _start_class() -> None:
    if (lesson := _finish()) is not None:
        door("start_class")(lesson)


def _finish() -> Lesson | None:
    """Return the draft as a lesson. If it has mistakes, note them for the page and return None."""
    desk = lesson_draft.desk()
    desk.said = ""
    try:
        return lesson_draft.lesson()
    except ValueError as error:
        desk.said = str(error)
    return None


def _blocks(draft: str, text: ReadText) -> None:
    """Draw the findings of the check for each block.

    The block at the caret comes first, with the possible values of the key at the caret and a preview.
    """
    line = _line(text)
    here = step_at(text, line)
    with st.container(key="draft-here"):
        told = st.container()
        link = text.picture(here - 1) if here else None
        _offer(draft, line, link)
        step = text.steps[here - 1].step if here else None
        if step is not None:
            _preview(step, link, text.head.get("language", "en"))
    rest = st.container(key="draft-others")
    for block in check_text(text, _check_once()):
        with told if block.number == here else rest:
            _remarks(block)


def _check_once() -> StepCheck:
    """Return a function that checks a step and reuses the last run's findings if the step has not changed."""
    desk = lesson_draft.desk()
    before, now = desk.checked, dict[object, tuple[Remark, ...]]()
    desk.checked = now

    def check(step: LessonStep, link: Link | None, signed: str | None) -> tuple[Remark, ...]:
        plain = replace(step, line=0, question=step.question and replace(step.question, line=0), link=None)
        key = repr(plain), link and (link.page, link.query), signed
        if key in before:
            now[key] = before[key]
        elif hosting.is_over():
            return (Remark(step.line, "this step is not checked: the check took too long for one run", True),)
        else:
            now[key] = tuple(check_step(step, link, signed, run=shown_picture, claims=untrue_claims))
        return now[key]

    return check


def _remarks(block: CheckedBlock) -> None:
    name = f"Step {block.number} · {block.title or 'without a title'}" if block.number else "The lesson"
    if not block.number and not block.remarks:
        return
    st.markdown(f"**{literal(name)}** :small[:gray[line {block.line}]]")
    problems = [one.said[:1].upper() + one.said[1:] for one in block.remarks if one.is_problem]
    for one in block.remarks:
        if not one.is_problem:
            st.success(literal(one.said[:1].upper() + one.said[1:]), icon=":material/check:")
    if problems:
        st.warning(literal_lines(problems), icon=":material/error:")


def _offer(draft: str, line: int, link: Link | None) -> None:
    """Draw a list of possible values for the key on the caret's line. Rows and columns come from the step's picture."""
    if not (field := field_on(draft, line)):
        return
    found = offers(field, _shown(link)[0])
    if not found:
        return

    def choose() -> None:
        if chosen := st.session_state[_OFFER]:
            lesson_draft.change(replace_value(lesson_draft.desk().text or NEW, line, found[chosen]))

    st.session_state[_OFFER] = None
    st.pills(f"{field}: one of these", list(found), format_func=literal, key=_OFFER, on_change=choose)


def _preview(step: LessonStep, link: Link | None, language: str) -> None:
    """Draw a step as a student sees it, with a question that can be answered.

    A change of the step discards the answer.
    """
    name = hashlib.blake2b(repr((step, link)).encode("utf-8", "replace"), digest_size=8).hexdigest()
    lesson = Lesson(f"{lesson_draft.DRAFT}-{name}", "", 1, "", language, (replace(step, link=link),))
    now = OpenedLesson(lesson, 0)
    forget_lessons(f"{lesson_draft.DRAFT}-", but=lesson.name)
    shown, refusal = _shown(link)
    with st.container(border=True, key="draft-preview"):
        st.caption("As a student sees it")
        with preview_in(language):
            panel.draw_step(now)
        is_covered = step.question is not None and step.question.cover != "nothing" and not progress(now).is_over
        if is_covered:
            st.caption("The picture is covered until the question is answered or skipped.")
        elif refusal:
            st.caption(literal(refusal))
        else:
            draw_step_picture(link, shown)


def _shown(link: Link | None) -> tuple[LinkedPicture | None, str]:
    """Run a link's model for the preview; return the picture and "", or None and the reason why there is none."""
    try:
        return picture(link), ""
    except ValueError as error:
        return None, str(error)


def draw_step_picture(link: Link | None, shown: LinkedPicture | None) -> None:
    """Draw the picture of a step, and name the page on which the lesson opens it."""
    if link is None:
        st.caption("No picture. Please put a link into this step, or into one before it.")
        return
    name = link.texts.get("tab", "heads") if link.page == "Heads" else ""
    tab = titles().get(name, "")
    place = f"{link.page}, tab {tab}" if tab else link.page
    if shown is None:
        st.caption(f"The lesson opens {place}. The editor cannot draw this picture.")
        return
    try:
        charts.chart(_shrink(_figure(shown)), key="draft-step-chart")
    except ValueError as error:
        st.warning(literal(str(error)), icon=":material/error:")
        return
    is_it = name in _DRAWN
    st.caption(
        f"As the lesson opens it: {place}."
        if is_it
        else f"The lesson opens {place}. Here you see the map of the same head."
    )


def _figure(shown: LinkedPicture) -> Any:
    """Make the figure of the map in focus, or of the links if the step's link is to the tab Links."""
    from attnviz.heads.figures.heatmap import heatmap_of  # Plotly takes a while to import
    from attnviz.heads.figures.links import links
    from attnviz.heads.heads_state import HeadsState
    from attnviz.heads.page.state import read_page_state

    theme, texts = charts.theme(), shown.link.texts
    if shown.link.page != "Heads" or texts.get("tab") != "links":
        return heatmap_of(shown.maps, shown.layer, shown.head, theme=theme)
    state, _ = read_page_state(texts, shown.trace, HeadsState(shown.kind, shown.layer, shown.head))
    return links(
        shown.trace,
        shown.kind,
        state.states["links"].heads,
        specials=shown.options.specials,
        words=shown.options.words,
        theme=theme,
    )


def _shrink(made: Any) -> Any:
    """Shrink a figure to fit beside a text: remove axis names and colour scale, and shorten the title."""
    made.update_layout(height=min(made.layout.height, _TALLEST), title_text=made.layout.title.text.partition(":")[0])
    made.update_layout(margin_r=40)  # the last key's name leans over the edge
    made.update_xaxes(title_text="").update_yaxes(title_text="")
    return made.update_traces(showscale=False, selector={"type": "heatmap"})
