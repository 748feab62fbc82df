"""The frame of every page: page config, menu, top bar, status bar. A page calls `begin_page` first."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.ui import hosted, interventions, streamlit_internals
from attnviz.ui.address import browser, echoes, persistent, share
from attnviz.ui.cache import engine
from attnviz.ui.cache.beside import Beside
from attnviz.ui.cache.traces import model
from attnviz.ui.classes import asking
from attnviz.ui.drawing import sheet, words
from attnviz.ui.frame import menu, screen, status_bar, top_bar
from attnviz.ui.lessons import going, opened, windows
from attnviz.ui.markdown import literal
from attnviz.ui.mount import copy_link
from attnviz.ui.request import Request
from attnviz.ui.styles import style

T = TypeVar("T")
streamlit_internals.install()
ICON = (Path(__file__).parents[2] / "assets" / "icon.svg").read_text(encoding="utf-8")
FRAME_STYLES = ("frame.css", "screen.css", "present.css", "contrast.css")


def begin_page(title: str, *, as_it_is: str = "") -> Request:
    """Draw the frame of a page and return what the top bar asks for.

    A page that leaves out what is done to the run says why, in `as_it_is`.
    """
    line = _begin(title)
    request = top_bar.top_bar()
    _draw_line(line, title, request)
    persistent.said().setdefault("model", request.entry.name)
    if as_it_is:
        interventions.left_out(as_it_is)
    else:
        request = interventions.in_force(request)
    _ready(title)
    return request


def begin_page_of_its_own(title: str, bar: Callable[[], None]) -> None:
    """As `begin_page`, for a page that runs nothing of the top bar: `bar` draws what stands in its place, on the left
    of the link to copy. Model and sentence wait for the other pages.
    """
    line = _begin(title)
    top_bar.bar_of(bar)
    _draw_line(line, title)
    interventions.left_out("This page runs its own models and ignores the changes made on other pages")
    _ready(title)


def _begin(title: str) -> DeltaGenerator:
    """Draw what every page begins with; the place of the line for narrow screens, which says what the bar asks."""
    st.set_page_config(page_title=f"{title} · attnviz", page_icon=ICON, layout="wide")
    st.html(style(*FRAME_STYLES))
    browser.watch_browser()
    persistent.begin(title)
    echoes.begin(title)
    windows.tidy()
    if windows.is_panel():
        st.html(style("lesson_window.css"))
    _follow_class()
    going.follow(title, menu.PATHS)
    words.explain(title)
    with st.sidebar:
        menu.draw(title)
    return st.container(key="screen-line")


def _draw_line(place: DeltaGenerator, title: str, request: Request | None = None) -> None:
    with place:
        problems = screen.draw(title, request, sheet.ask)
    sheet.begin(title, request)
    st.session_state.setdefault("notes", []).extend(persistent.of_link(problems))


def _ready(title: str) -> None:
    persistent.publish(early=True)
    st.session_state["notes-slot"] = st.container(key="notes")
    if said := engine.said(persistent.text("model")):
        st.session_state["notes-slot"].warning(literal(said), icon=":material/cloud_off:")
    if refusal := st.session_state.pop("refusal", None):
        refuse(refusal)
    try:
        hosted.wait(st.session_state["notes-slot"])
    except ValueError as full:
        refuse(str(full))
    if title != "Class" and persistent.text("class"):
        from attnviz.ui.classes import docked

        st.html(style("lessons.css", "classes.css"))
        _cover(docked.draw(title))
    elif title not in ("Lessons", "Class") and persistent.text("lesson"):
        _lesson(title)


def _follow_class() -> None:
    if not persistent.text("class"):
        opened.follow(None)
        return
    from attnviz.ui.classes import following

    following.begin()


def _lesson(title: str) -> None:
    """The lesson's panel beside the page, and a cover over a page that would tell what the lesson asks."""
    from attnviz.ui.lessons import companion, cover, drafting, panel

    st.html(style("lessons.css"))
    if persistent.text("lesson") == drafting.DRAFT:
        drafting.keep()
    with st.container(key="lesson-panel"), companion.attached(companion.show_step):
        panel.draw()
    _cover(cover.said() if cover.hides(title) else "")


def _cover(said: str) -> None:
    """End the page with a sentence in the place of its picture, where there is one."""
    if said:
        st.info(said, icon=":material/visibility_off:")
        _publish()
        note(*st.session_state.pop("notes", ()))
        sheet.open_if_asked()
        st.stop()


def page_link(path: str, label: str) -> None:
    """A link to a page as this visitor left it, with the sentence that is typed above: one step for Back."""
    st.page_link(path, label=label, width="stretch", query_params=persistent.address(menu.title_of(path)))


def note(*sentences: str) -> None:
    """Notes above the picture: what was cut, what a link asked for and did not get."""
    for sentence in sentences:
        st.session_state["notes-slot"].info(literal(sentence), icon=":material/info:")


def refuse(sentence: str) -> None:
    """Say in one sentence why there is no picture, and end the page; what was typed stays."""
    st.session_state["notes-slot"].error(literal(sentence), icon=":material/error:")
    _publish()
    sheet.open_if_asked()
    st.stop()


def run_or_refuse(make: Callable[[], T]) -> T:
    """What `make` returns; an input that it refuses ends the page with its sentence. A long run shows that it runs."""
    try:
        with st.session_state["running-slot"].spinner("Running"):  # over the link to the picture that is still seen
            return make()
    except ValueError as error:
        if engine.has_gone(error):
            st.rerun()  # with the model that is here
        refuse(str(error))
        raise


def end_page(request: Request, trace, view: share.Linkable | None = None) -> None:
    """Draw what depends on the run: notes, the link to copy, the status bar."""
    _publish()
    loaded = model(request.entry.name)
    note(
        *share.link_problems(_still_linked(request), loaded.languages, trace.model_id),
        *trace.info.notes,
        *_misread.get(trace, lambda: _reading_notes(request, trace)),
        *st.session_state.pop("notes", ()),
    )
    sentence = request.to_params() | ({"tgt": share.target(trace)} if loaded.inputs.takes_target else {})
    query = share.shared_query(sentence, view, trace.model_id)
    with st.session_state["copy-link-slot"]:
        copy_link(query)
    asking.button(persistent.page(), query)
    status_bar.of_run(loaded, trace)
    sheet.open_if_asked(view)


def end_page_of_its_own(view: share.Linkable | None, status: Sequence[str]) -> None:
    """As `end_page`, for a page that runs nothing of the top bar; `status` is the status bar's HTML, part by part.
    Without a `view` there is nothing that a link could carry.
    """
    _publish()
    note(*st.session_state.pop("notes", ()))
    if view is not None:
        with st.session_state["copy-link-slot"]:
            copy_link(share.page_query(view))
        asking.button(persistent.page(), share.page_query(view))
    status_bar.draw(status)
    sheet.open_if_asked()


def _publish() -> None:
    """Tell the browser where the page is now, and that it has heard of all that was set here."""
    persistent.publish()
    echoes.end()


def warn(*sentences: str) -> None:
    """Say above the picture what cannot be done, and go on."""
    for sentence in sentences:
        st.session_state["notes-slot"].error(literal(sentence), icon=":material/error:")


_misread: Beside[tuple[str, ...]] = Beside()


def _reading_notes(request: Request, trace) -> tuple[str, ...]:
    """Name tokens that are unknown to the model; warn where a model that was measured cannot read the source."""
    from attnviz.models.translator.reads import Reads, lost, unknown

    measured = None if trace.interventions else Reads.of(request.entry.reads)
    sentences = (unknown(trace), lost(trace, measured) if measured is not None else "")
    return tuple(sentence for sentence in sentences if sentence)


def _still_linked(request: Request) -> dict[str, str]:
    """What the link said, less what does not concern the model and the language that are in force by now."""
    linked = dict(persistent.said())
    if linked["model"] != request.entry.name:
        linked.pop("weights", None)
        if not request.entry.languages:  # a checkpoint has codes of its own: a translator's are no news there
            linked.pop("to", None)
    if linked.get("to") != persistent.text("to"):
        linked.pop("to", None)
    return linked
