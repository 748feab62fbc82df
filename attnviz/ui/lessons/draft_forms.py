"""The editor's two forms: what the lesson is, and what one of its steps says, shows and asks."""

from dataclasses import replace

import streamlit as st

from attnviz.lessons import proofreading
from attnviz.lessons.draft import Draft
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import Picture
from attnviz.ui.lessons import drafting, going, question_form
from attnviz.ui.lessons.draft_fields import Fields
from attnviz.ui.lessons.run import picture
from attnviz.ui.markdown import literal


def head(draft: Draft) -> None:
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


def step(draft: Draft, at: int) -> None:
    """A step: its title, its picture, its text, and what it asks."""
    now = draft.steps[at]

    def place(latest: Draft) -> int:
        """Where the step is by now: another tab may have moved it."""
        found = [i for i, one in enumerate(latest.steps) if one.name == now.name]
        if not found:
            raise ValueError("This step has just been deleted in another tab.")
        return found[0]

    def write(name: str, text: str) -> None:
        drafting.attempt(lambda latest: latest.with_step(place(latest), **{name: text}))

    def ask(name: str, text: str) -> None:
        drafting.attempt(lambda latest: latest.asking(place(latest), {name: text}))

    key = f"draft-step-{now.name}"
    fields = Fields(key, {"title": now.title, "text": now.text, "link": now.link}, write)
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
    asked = Fields(f"{key}-question", now.question, ask)
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
