"""The editor's two forms: the lesson's head, and one step's text, picture and question."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.lessons import proofreading
from attnviz.lessons.draft import Draft, label
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import Picture
from attnviz.ui import charts
from attnviz.ui.heads.tabs import TABS
from attnviz.ui.lessons import lesson_draft, question_form, step_navigation
from attnviz.ui.lessons.draft_fields import Fields
from attnviz.ui.lessons.run import picture
from attnviz.ui.markdown import literal, literal_lines

_TALLEST = 440  # pixels
_DRAWN = (TABS["heads"], TABS["links"])


def head(draft: Draft) -> None:
    """Draw the form of the lesson's head."""

    def write(name: str, text: str) -> None:
        lesson_draft.attempt(lambda now: replace(now, **{name: text}))

    texts = {name: getattr(draft, name) for name in ("title", "minutes", "audience", "language", "about", "unlisted")}
    fields = Fields("draft-head", texts, write)
    fields.line("title", label("title"))
    whom, minutes, language = st.columns([60, 20, 20])
    with whom:
        fields.line("audience", label("for"), placeholder="students who have read one map")
    with minutes:
        fields.line("minutes", label("minutes"))
    with language:
        fields.line("language", label("language"), placeholder="en")
    fields.area("about", "One or two sentences for the list of lessons (Markdown)")
    fields.switch("unlisted", label("listed"))
    _show_problems(proofreading.head_problems(draft))


def step(draft: Draft, at: int) -> None:
    """Draw the form of a step: its title, its picture, its text, and its question."""
    now = draft.steps[at]

    def place(latest: Draft) -> int:
        """Find the step's place, which another tab may have changed."""
        found = [i for i, one in enumerate(latest.steps) if one.name == now.name]
        if not found:
            raise ValueError("This step has just been deleted in another tab.")
        return found[0]

    def write(name: str, text: str) -> None:
        lesson_draft.attempt(lambda latest: latest.replace_step(place(latest), **{name: text}))

    def ask(name: str, text: str) -> None:
        lesson_draft.attempt(lambda latest: latest.replace_question(place(latest), {name: text}))

    key = f"draft-step-{now.name}"
    fields = Fields(key, {"title": now.title, "text": now.text, "link": now.link}, write)
    link = proofreading.picture_link(draft, at)
    shown, refusal = _picture(link)
    form, side = st.columns([58, 42], gap="medium")
    with form:
        fields.line("title", "Title of the step")
        _link(fields, link)
        fields.area("text", "Text (Markdown)", height=150)
        asked = Fields(f"{key}-question", now.question, ask)
        question_form.draw(asked, shown)
        _draw_right_answer(draft, at, refusal)
        question_form.draw_common(asked)
    with side, st.container(key="draft-step-picture"):
        _draw_picture(link, shown)


def _link(fields: Fields, link: Link | None) -> None:
    """Draw the field of the step's link, and the button that opens its picture."""
    field, way = st.columns([80, 20], vertical_alignment="bottom")
    with field:
        fields.line("link", "Link of its picture", placeholder="empty: the picture of the step before stays")
    with way:
        st.button(
            "Open it",
            key="draft-picture",
            disabled=link is None,
            on_click=step_navigation.show,
            args=(link,),
            width="stretch",
        )


def _draw_picture(link: Link | None, shown: Picture | None) -> None:
    """Draw the step's picture, small, and name the page on which the lesson opens it."""
    if link is None:
        st.caption("No picture: put a link into this step, or into one before it.")
        return
    tab = TABS.get(link.texts.get("tab", "heads"), "") if link.page == "Heads" else ""
    place = f"{link.page}, tab {tab}" if tab else link.page
    if shown is None:
        st.caption(f"The lesson opens {place}. This picture is not drawn here.")
        return
    try:
        charts.chart(_shrink(_figure(shown)), key="draft-step-chart")
    except ValueError as error:
        st.warning(literal(str(error)), icon=":material/error:")
        return
    is_it = tab in _DRAWN
    st.caption(f"As the lesson opens it: {place}." if is_it else f"The lesson opens {place}. This is its head's map.")


def _figure(shown: Picture) -> Any:
    """Draw the map in focus, or on the tab Links its links."""
    from attnviz.pictures.heads_state import HeadsState
    from attnviz.ui.heads.state import read_page_state
    from attnviz.views.heads.heatmap import heatmap_of  # Plotly takes a while to import
    from attnviz.views.heads.links import links

    theme, texts = charts.theme(), shown.link.texts
    if shown.link.page != "Heads" or texts.get("tab") != "links":
        return heatmap_of(shown.maps, shown.layer, shown.head, theme=theme)
    state, _ = read_page_state(texts, shown.trace, HeadsState(shown.kind, shown.layer, shown.head))
    return links(
        shown.trace,
        shown.kind,
        state.links.heads,
        specials=shown.options.specials,
        words=shown.options.words,
        theme=theme,
    )


def _picture(link: Link | None) -> tuple[Picture | None, str]:
    """Return the step's picture, or the reason for none."""
    try:
        return picture(link), ""
    except ValueError as error:
        return None, str(error)


def _shrink(made: Any) -> Any:
    """Shrink a figure to the room beside a form: without names of axes, scale, and the rest of its title."""
    made.update_layout(height=min(made.layout.height, _TALLEST), title_text=made.layout.title.text.partition(":")[0])
    made.update_layout(margin_r=40)  # the last key's name leans over the edge
    made.update_xaxes(title_text="").update_yaxes(title_text="")
    return made.update_traces(showscale=False, selector={"type": "heatmap"})


def _draw_right_answer(draft: Draft, at: int, refusal: str) -> None:
    """Show the right answer, computed at once, or all problems."""
    found = list(proofreading.remarks(draft, at, picture))
    for said, is_problem in found:
        if not is_problem:
            st.success(literal(said), icon=":material/check:")
    problems = [said for said, is_problem in found if is_problem]
    _show_problems(problems if found else [refusal] if refusal else [])


def _show_problems(problems: Sequence[str]) -> None:
    if problems:
        st.warning(literal_lines(problems), icon=":material/error:")
