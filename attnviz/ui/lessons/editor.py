"""The draft editor: its buttons, the draft's steps in their order, and the form of the open one."""

import streamlit as st

from attnviz.lessons import proofreading
from attnviz.lessons.draft import Draft, DraftStep
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.writing import file_name, markdown
from attnviz.ui import hosting
from attnviz.ui.address import persistent
from attnviz.ui.classes import starting
from attnviz.ui.lessons import draft_forms, lesson_draft, step_navigation
from attnviz.ui.lessons.open_lesson import lesson_progress
from attnviz.ui.lessons.run import picture
from attnviz.ui.markdown import literal, literal_lines

EDIT = "edit"  # in the address: the number of the step that is open, 0 for what the lesson is


def draw() -> None:
    """Draw the editor of this visitor's draft."""
    desk = lesson_draft.desk()
    draft, at = desk.draft or Draft(), _open(desk.draft or Draft())
    with st.container(key="draft"):
        _tools(draft, at)
        with st.container(key="draft-told"):  # always there: what stands below stays, and with it the focus of a field
            _draw_messages(desk)
        steps, form = st.columns([23, 77], gap="medium")
        with steps:
            _steps(draft, at)
        with form:
            draft_forms.head(draft) if at < 0 else draft_forms.step(draft, at)


def edit(number: int) -> None:
    """Open a step, by its number from 1."""
    persistent.write({EDIT: str(number)})


def _open(draft: Draft) -> int:
    """Return the step that the address names, from 0; -1 for the lesson's head."""
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
        st.button("Start a class", icon=":material/groups:", key="draft-class", on_click=_start_class)
        st.button("Check all steps", icon=":material/rule:", key="draft-check", on_click=_check)
        st.download_button(
            "Download", markdown(draft), file_name(draft), "text/markdown", key="draft-download", on_click="ignore",
            icon=":material/download:",
        )  # fmt: skip
        if lesson_draft.desk().former is not None:
            st.button("Bring back the previous draft", key="draft-former", on_click=lesson_draft.bring_back)


def _finish() -> Lesson | None:
    """Return the draft as a lesson; None where it is none yet, and its problems are shown."""
    desk = lesson_draft.desk()
    desk.said, desk.checked = "", None
    try:
        return lesson_draft.lesson()
    except ValueError as error:
        desk.said = str(error)
    return None


def _try(at: int) -> None:
    if (lesson := _finish()) is not None:
        lesson_draft.forget_answers(lesson_progress(lesson))
        step_navigation.go(lesson, at)


def _start_class() -> None:
    if (lesson := _finish()) is not None:
        starting.start_on(lesson)


def _check() -> None:
    """Check the draft as `python -m attnviz lessons check` does."""
    desk = lesson_draft.desk()
    draft = desk.draft or Draft()
    head = [*proofreading.head_problems(draft), *([] if draft.steps else [proofreading.NO_STEPS])]
    found = [(0, problem, True) for problem in head]
    desk.said = ""
    for at in range(len(draft.steps)):
        try:
            found += [(at + 1, said, is_problem) for said, is_problem in proofreading.remarks(draft, at, picture)]
        except ValueError as error:  # the run's time was over between two steps of the computation
            found.append((at + 1, str(error), True))
        if hosting.is_over() and at + 1 < len(draft.steps):
            desk.said = f"The check stopped after step {at + 1} of {len(draft.steps)}: it took too long for one answer."
            break
    desk.checked = tuple(found)


def _draw_messages(desk: lesson_draft.Desk) -> None:
    """Draw the refusal of the last action, and the findings of the check, beside the buttons that ask for them."""
    if desk.said:
        st.error(literal_lines(desk.said.split("\n")))
    if desk.checked is not None:
        _draw_findings(desk.checked)


def _draw_findings(found: tuple[tuple[int, str, bool], ...]) -> None:
    problems = sum(is_problem for *_, is_problem in found)
    lines = [f"**The check** · {problems} {'problem' if problems == 1 else 'problems'}"]
    for number, said, is_problem in found:
        place = f"Step {number}: {said}" if number else said
        lines.append(f":material/{'error' if is_problem else 'check'}: {literal(place)}")
    (st.error if problems else st.success)("  \n".join(lines))


def _steps(draft: Draft, at: int) -> None:
    """Draw the list of steps; the open one can be moved, duplicated and deleted."""
    _way("The lesson", 0, is_open=at < 0, problems=proofreading.head_problems(draft))
    for i, step in enumerate(draft.steps):
        _way(
            f"{i + 1}  {step.title or 'without a title'}",
            i + 1,
            is_open=i == at,
            problems=proofreading.step_problems(step),
        )
        if i == at:
            _moves(draft, at)
    st.button("Add a step", icon=":material/add:", key="draft-add", on_click=_add, args=(at + 1,), width="stretch")
    st.caption("“Add to lesson” beside “Copy link” on every page adds the picture there as a step.")


def _way(title: str, number: int, *, is_open: bool, problems: list[str]) -> None:
    st.button(
        literal(title), key=f"draft-open-{number}", width="stretch", on_click=edit, args=(number,),
        type="primary" if is_open else "secondary", icon=":material/error:" if problems else None,
        help=literal_lines(problems) or None,
    )  # fmt: skip


def _moves(draft: Draft, at: int) -> None:
    last = len(draft.steps) - 1
    with st.container(horizontal=True, key="draft-moves"):
        _move("Up", "arrow_upward", at, at - 1, disabled=at == 0)
        _move("Down", "arrow_downward", at, at + 1, disabled=at == last)
        st.button("Duplicate", key="draft-double", on_click=_duplicate, args=(at,))
        st.button("Delete", key="draft-delete", on_click=_delete, args=(at,))


def _move(label: str, icon: str, at: int, to: int, *, disabled: bool) -> None:
    st.button(label, key=f"draft-{icon}", disabled=disabled, on_click=_move_step, args=(at, to))


def _move_step(at: int, to: int) -> None:
    lesson_draft.attempt(lambda draft: draft.move(at, to))
    edit(to + 1)


def _duplicate(at: int) -> None:
    lesson_draft.attempt(lambda draft: draft.duplicate(at))
    edit(at + (1 if lesson_draft.desk().said else 2))


def _delete(at: int) -> None:
    """Delete a step; the draft before it can be brought back."""
    former = lesson_draft.desk().draft
    lesson_draft.attempt(lambda draft: draft.remove(at))
    lesson_draft.desk().former = former
    edit(at if at else min(1, len(former.steps) - 1 if former else 0))


def _add(at: int) -> None:
    lesson_draft.attempt(lambda draft: draft.insert(at, DraftStep()))
    edit(at + (0 if lesson_draft.desk().said else 1))
