"""The lesson's panel: the step's text and question, hints, answer, solution, and the buttons to other steps.

On a phone the panel is folded to a line above the picture, which shows the question. The controls for the answer are
below the picture (assets/styles/lessons.css).
"""

import html

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.markdown import literal
from attnviz.doors import door
from attnviz.lessons.library import next_lesson
from attnviz.lessons.page import answer_drafts, answering, companion, judging, lesson_draft, step_navigation, windows
from attnviz.lessons.page.open_lesson import OpenedLesson, Progress, first_open, open_lesson, progress
from attnviz.lessons.page.run import picture
from attnviz.lessons.page.wording import phrase, translate
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CHOICE, ROW, TEXT, TOKEN, TRANSLATION, Question

_SPOT = {
    "row": Translatable("Look at the row that the question names: it is marked on the map."),
    "map": Translatable("Look at the large map."),
    "grid": Translatable("Look at the grid of all heads."),
    "strip": Translatable("Look at the sentences above the maps."),
}
_SKIPPED = Translatable("Skipped.")
_IN_WORDS = (CHOICE, TOKEN, TRANSLATION)  # kinds of question whose answer is a text


def draw() -> None:
    """Draw the panel with the open lesson's step, if a lesson is open."""
    now = open_lesson()
    if now is None:
        return
    line(now, phrase("Lesson, step {at} of {steps}", at=now.at + 1, steps=len(now.lesson.steps)))
    _head(now)
    _text(now)
    with form():
        if now.question is not None:
            _question(now, now.question)
        _way(now)


def draw_step(now: OpenedLesson) -> None:
    """Draw a step's text and question, without the panel around them."""
    _text(now)
    if now.question is not None:
        _question(now, now.question)


def _text(now: OpenedLesson) -> None:
    st.markdown(f"#### {now.step.title}\n\n{now.step.text}")
    if now.question is not None:
        st.markdown(f"**{literal(now.question.ask)}**")


def line(now: OpenedLesson, place: str) -> None:
    """Draw the line to which the panel is folded on a phone.

    It stays folded or open for the whole step. While an unanswered question covers the whole page, it starts open.
    """
    if windows.is_panel():
        return
    asked = now.question.ask if now.question else now.step.title
    is_covered = now.question is not None and now.question.cover == "page" and not progress(now).is_over
    is_open = " open" if is_covered else ""
    words = {"answer": phrase("Read and answer"), "read": phrase("Read"), "fold": phrase("Fold")}
    data = " ".join(f'data-{name}="{html.escape(said)}"' for name, said in words.items())
    summary = f"<summary {data}><small>{html.escape(place)}</small> <b>{html.escape(asked)}</b></summary>"
    st.html(f"<details class='lesson-line'{is_open}>{summary}</details>")


def form() -> DeltaGenerator:
    """Return the container for the answer and the solution, which is at the bottom of the window on a phone."""
    return st.container(key="lesson-form")


def _head(now: OpenedLesson) -> None:
    with st.container(key="lesson-head", horizontal=True, vertical_alignment="center"):
        place = phrase("{at} of {steps}", at=now.at + 1, steps=len(now.lesson.steps))
        st.caption(literal(f"{now.lesson.title} · {place}"))
        companion.button()
        if windows.is_panel():
            return
        if now.lesson.name == lesson_draft.DRAFT:
            st.button(
                phrase("Edit"),
                key="lesson-edit",
                type="tertiary",
                on_click=step_navigation.home,
                args=({"edit": str(now.at + 1)},),
            )
        st.button(
            phrase("Start a class"),
            key="lesson-class",
            type="tertiary",
            on_click=door("start_class"),
            args=(now.lesson,),
        )
        st.button(
            phrase("Close"),
            key="lesson-close",
            icon=":material/close:",
            type="tertiary",
            on_click=step_navigation.leave,
        )


def _question(now: OpenedLesson, question: Question) -> None:
    did = progress(now)
    try:
        shown = picture(now.link)
        if shown is not None and question.row:
            shown.row(question.row)
    except ValueError as error:
        st.error(literal(str(error)))
        did.is_skipped = True  # no answer is possible, and nothing needs a cover
        return
    if did.is_over:
        draw_solution(now, question, shown)
        return
    did.draft = answering.draft(now, question, shown)
    hints(question, did.rungs)
    if did.said:
        st.error(literal(translate(did.said)))
    with st.container(horizontal=True, key="lesson-answer"):
        st.button(phrase("Answer"), key="lesson-submit", type="primary", on_click=_submit, args=(now, question, shown))
        st.button(phrase("Skip and show"), key="lesson-skip", on_click=judging.skip, args=(did, question, shown))
        if did.rungs < question.rungs:
            st.button(phrase("Hint"), key="lesson-hint", icon=":material/lightbulb:", on_click=_hint, args=(did,))


def hints(question: Question, rungs: int) -> None:
    """Draw the first `rungs` hints of a question: two in words, and the third as a spotlight on the picture."""
    for hint in question.hints[:rungs]:
        st.info(literal(hint), icon=":material/lightbulb:")
    if rungs > len(question.hints):
        st.info(translate(_SPOT[question.show]), icon=":material/my_location:")


def _hint(did: Progress) -> None:
    did.rungs += 1


def _submit(now: OpenedLesson, question: Question, shown: LinkedPicture | None) -> None:
    did = progress(now)
    judging.answer(did, question, shown, answer_drafts.answer(now, question, did.draft))


def draw_solution(
    now: OpenedLesson, question: Question, shown: LinkedPicture | None, *, unanswered: str = _SKIPPED
) -> None:
    """Draw the solution and its explanation. Without an answer from the student, `unanswered` is shown."""
    did = progress(now)
    if did.truth is None:
        st.error(literal(translate(did.said)))
        return
    if question.kind == ROW and shown is not None:
        answering.drawn_row(now, shown, did.guess, did.truth)
    if did.marked is None:
        st.warning(literal(f"{translate(unanswered)} {_draw_right_answer(question, did)}"), icon=":material/skip_next:")
    elif did.marked.share is None:
        st.info(phrase("Thank you. This answer is not scored."), icon=":material/edit_note:")
    else:
        _verdict(question, did, answering.shown_answer(question, did.guess, shown))
    if question.why:
        st.markdown(question.why)


def _verdict(question: Question, did: Progress, answer: str) -> None:
    assert did.marked is not None
    assert did.marked.share is not None
    said = phrase("You said “{answer}”.", answer=answer) if answer else ""
    off = translate(did.marked.said)
    rule = answering.how_rows_count() if question.kind == ROW else ""
    if did.marked.is_right:
        right = "" if question.kind in _IN_WORDS else _draw_right_answer(question, did)
        st.success(literal(_join(phrase("Right."), said, off, rule, right)), icon=":material/check:")
        return
    if question.kind == ROW:
        not_right = _join(phrase("Not right."), off, rule, _draw_right_answer(question, did))
        st.warning(literal(not_right), icon=":material/close:")
        return
    score = phrase("Score {share}.", share=f"{did.marked.share:.0%}") if did.marked.share > 0 else ""
    st.warning(literal(_join(said, off, _draw_right_answer(question, did), score)), icon=":material/close:")


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _draw_right_answer(question: Question, did: Progress) -> str:
    assert did.truth is not None
    if question.kind == TEXT or not did.truth.said:
        return ""
    if question.kind in _IN_WORDS:
        return phrase("Right: “{answer}”.", answer=did.truth.said)
    return phrase("The model: {answer}.", answer=translate(did.truth.said).rstrip("."))


def _way(now: OpenedLesson) -> None:
    last = len(now.lesson.steps) - 1
    with st.container(horizontal=True, horizontal_alignment="distribute", key="lesson-way"):
        st.button(
            phrase("Back"), key="lesson-back", icon=":material/arrow_back:", disabled=now.at == 0,
            on_click=step_navigation.go, args=(now.lesson, now.at - 1),
        )  # fmt: skip
        if now.at < last:
            st.button(
                phrase("Next"), key="lesson-next", icon=":material/arrow_forward:", type=_pull(now),
                on_click=step_navigation.go, args=(now.lesson, now.at + 1),
            )  # fmt: skip
        else:
            _next_lesson(now)
    if now.at == last and (now.question is None or progress(now).is_over):
        st.caption(judging.summary(now))


def _next_lesson(now: OpenedLesson) -> None:
    """Draw the button after the last step, which leads to the next lesson or to the list of lessons.

    It is not drawn in the panel's own window, because the window with the picture would stay at the old lesson.
    """
    if windows.is_panel() or now.lesson.name == lesson_draft.DRAFT:
        return
    if (other := next_lesson(now.lesson.name)) is None:
        st.button(phrase("All lessons"), key="lesson-all", type=_pull(now), on_click=step_navigation.home, args=({},))
        return
    st.button(
        phrase("Next lesson"), key="lesson-following", icon=":material/arrow_forward:", type=_pull(now),
        help=literal(other.title), on_click=step_navigation.go, args=(other, first_open(other)),
    )  # fmt: skip


def _pull(now: OpenedLesson):
    """Return the Streamlit type of the button to the next step: "primary" if the question is answered or skipped."""
    return "primary" if now.question is None or progress(now).is_over else "secondary"
