"""The draft editor: what the lesson is, its steps in their order, and of the open step text, picture and question."""

from dataclasses import replace

import streamlit as st

from attnviz.lessons import proofreading
from attnviz.lessons.draft import Draft, DraftStep
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import Picture
from attnviz.lessons.writing import file_name, markdown
from attnviz.ui.address import persistent
from attnviz.ui.lessons import drafting, going, question_form
from attnviz.ui.lessons.draft_fields import Fields
from attnviz.ui.lessons.opened import of_lesson
from attnviz.ui.lessons.run import picture
from attnviz.ui.markdown import literal

EDIT = "edit"  # in the address: the number of the step that is open, 0 for what the lesson is


def draw() -> None:
    """The editor of this visitor's draft."""
    desk = drafting.desk()
    draft, at = desk.draft or Draft(), _open(desk.draft or Draft())
    with st.container(key="draft"):
        _tools(draft, at)
        if desk.said:
            st.error(literal(desk.said))
        steps, form = st.columns([30, 70], gap="medium")
        with steps:
            _steps(draft, at)
        with form:
            _head(draft) if at < 0 else _step(draft, at)
        if desk.checked is not None:
            _checked(desk.checked)


def edit(number: int) -> None:
    """Open a step, by its number from 1."""
    persistent.write({EDIT: str(number)})


def _open(draft: Draft) -> int:
    """The step that the address names, from 0; -1 for what the lesson is."""
    said = persistent.text(EDIT)
    return min(int(said) if said.isdecimal() and len(said) < 4 else 0, len(draft.steps)) - 1


def _tools(draft: Draft, at: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="draft-bar"):
        st.button(
            "All lessons",
            icon=":material/arrow_back:",
            key="draft-leave",
            on_click=persistent.write,
            args=({EDIT: None},),
        )
        st.button(
            "Try it", icon=":material/play_arrow:", key="draft-try", type="primary", on_click=_try, args=(max(at, 0),)
        )
        st.button("Check all steps", icon=":material/rule:", key="draft-check", on_click=_check)
        st.download_button(
            "Download", markdown(draft), file_name(draft), "text/markdown", key="draft-download", on_click="ignore",
            icon=":material/download:",
        )  # fmt: skip
        if drafting.desk().former is not None:
            st.button("Bring back the former draft", key="draft-former", on_click=drafting.bring_back)


def _try(at: int) -> None:
    desk = drafting.desk()
    try:
        lesson = drafting.lesson()
    except ValueError as error:
        desk.said = str(error)
        return
    if lesson is not None:
        drafting.forget_answers(of_lesson(lesson))
        going.go(lesson, at)


def _check() -> None:
    """What `python -m attnviz lessons check` would say."""
    desk = drafting.desk()
    draft = desk.draft or Draft()
    head = proofreading.head_problem(draft)
    found = [(0, head, True)] if head else []
    for at in range(len(draft.steps)):
        found += [(at + 1, said, is_problem) for said, is_problem in proofreading.remarks(draft, at, picture)]
    desk.checked = tuple(found)


def _checked(found: tuple[tuple[int, str, bool], ...]) -> None:
    problems = sum(is_problem for *_, is_problem in found)
    st.markdown(f"**The check** · {problems} {'problem' if problems == 1 else 'problems'}")
    for number, said, is_problem in found:
        place = f"Step {number}: {said}" if number else said
        (st.error if is_problem else st.success)(literal(place))


def _steps(draft: Draft, at: int) -> None:
    """The list of steps; the open one can be moved, doubled and deleted."""
    _way("The lesson", 0, is_open=at < 0, problem=proofreading.head_problem(draft))
    for i, step in enumerate(draft.steps):
        _way(
            f"{i + 1}  {step.title or 'without a title'}",
            i + 1,
            is_open=i == at,
            problem=proofreading.step_problem(step),
        )
        if i == at:
            _moves(draft, at)
    st.button("Add a step", icon=":material/add:", key="draft-add", on_click=_add, args=(at + 1,), width="stretch")
    st.caption("“Add to lesson” beside “Copy link” on every page adds the picture there as a step.")


def _way(title: str, number: int, *, is_open: bool, problem: str) -> None:
    st.button(
        literal(title), key=f"draft-open-{number}", width="stretch", on_click=edit, args=(number,),
        type="primary" if is_open else "secondary", icon=":material/error:" if problem else None, help=problem or None,
    )  # fmt: skip


def _moves(draft: Draft, at: int) -> None:
    last = len(draft.steps) - 1
    with st.container(horizontal=True, key="draft-moves"):
        _move("Up", "arrow_upward", at, at - 1, disabled=at == 0)
        _move("Down", "arrow_downward", at, at + 1, disabled=at == last)
        st.button("Duplicate", key="draft-double", on_click=_double, args=(at,))
        st.button("Delete", key="draft-delete", on_click=_delete, args=(at,))


def _move(label: str, icon: str, at: int, to: int, *, disabled: bool) -> None:
    st.button(label, key=f"draft-{icon}", disabled=disabled, on_click=_moved, args=(at, to))


def _moved(at: int, to: int) -> None:
    drafting.attempt(lambda draft: draft.moved(at, to))
    edit(to + 1)


def _double(at: int) -> None:
    drafting.attempt(lambda draft: draft.doubled(at))
    edit(at + (1 if drafting.desk().said else 2))


def _delete(at: int) -> None:
    """The draft as it was can be brought back."""
    former = drafting.desk().draft
    drafting.attempt(lambda draft: draft.without(at))
    drafting.desk().former = former
    edit(at if at else min(1, len(former.steps) - 1 if former else 0))


def _add(at: int) -> None:
    drafting.attempt(lambda draft: draft.added(at, DraftStep()))
    edit(at + (0 if drafting.desk().said else 1))


def _head(draft: Draft) -> None:
    """What the lesson is."""

    def write(name: str, text: str) -> None:
        drafting.attempt(lambda now: replace(now, **{name: text}))

    texts = {name: getattr(draft, name) for name in ("title", "minutes", "audience", "language", "about")}
    fields = Fields("draft-head", texts, write)
    fields.line("title", "Title")
    whom, minutes, language = st.columns([60, 20, 20])
    with whom:
        fields.line("audience", "For whom", placeholder="students who have read one map")
    with minutes:
        fields.line("minutes", "Minutes")
    with language:
        fields.line("language", "Language", placeholder="en")
    fields.area("about", "One or two sentences for the list of lessons (Markdown)")
    _said(proofreading.head_problem(draft))


def _step(draft: Draft, at: int) -> None:
    step = draft.steps[at]

    def place(now: Draft) -> int:
        """Where the step is by now: another tab may have moved it."""
        found = [i for i, one in enumerate(now.steps) if one.name == step.name]
        if not found:
            raise ValueError("This step has just been deleted in another tab.")
        return found[0]

    def write(name: str, text: str) -> None:
        drafting.attempt(lambda now: now.with_step(place(now), **{name: text}))

    def ask(name: str, text: str) -> None:
        drafting.attempt(lambda now: now.asking(place(now), {name: text}))

    key = f"draft-step-{step.name}"
    fields = Fields(key, {"title": step.title, "text": step.text, "link": step.link}, write)
    fields.line("title", "Title of the step")
    link, way = st.columns([80, 20], vertical_alignment="bottom")
    with link:
        fields.line("link", "Link of its picture", placeholder="empty: the picture of the step before stays")
    shown = proofreading.picture_link(draft, at)
    with way:
        st.button(
            "Open it", key="draft-picture", disabled=shown is None, on_click=going.show, args=(shown,), width="stretch"
        )
    fields.area("text", "Text (Markdown)", height=150)
    found, refusal = _picture(shown)
    asked = Fields(f"{key}-question", step.question, ask)
    question_form.draw(asked, found)
    _right(draft, at, refusal)
    question_form.around(asked)


def _picture(link: Link | None) -> tuple[Picture | None, str]:
    """The step's picture, or why there is none."""
    try:
        return picture(link), ""
    except ValueError as error:
        return None, str(error)


def _right(draft: Draft, at: int, refusal: str) -> None:
    """What is right, computed at once, or what is missing."""
    found = list(proofreading.remarks(draft, at, picture))
    if not found:
        _said(refusal)
    for said, is_problem in found:
        (st.warning if is_problem else st.success)(
            literal(said), icon=":material/error:" if is_problem else ":material/check:"
        )


def _said(problem: str) -> None:
    if problem:
        st.warning(literal(problem), icon=":material/error:")
