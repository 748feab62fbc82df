"""The frame of every page: page config, menu, top bar, status bar. A page calls `begin_page` first.

The menu opens every page as this visitor left it, with the sentence in the top bar.
"""

import html
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import extensions, hosting, interventions, mount, progress, streamlit_internals
from attnviz.app.address import browser, navigation, persistent, share, stale_values
from attnviz.app.address.persistent import BAR, FOCUS
from attnviz.app.cache import engine
from attnviz.app.cache.traces import model
from attnviz.app.drawing import sheet
from attnviz.app.frame import chat_bar, screen, top_bar
from attnviz.app.frame.page import Page, current_page, run_whole, running_part
from attnviz.app.markdown import literal
from attnviz.app.mount import copy_link
from attnviz.app.reports import TEXT, reported_value
from attnviz.app.request import Request
from attnviz.app.styles import style
from attnviz.doors import door
from attnviz.kit.fields import PageState, read
from attnviz.kit.views.terms import term
from attnviz.places import ASSETS

T = TypeVar("T")
Subject = TypeVar("Subject", contravariant=True)
State = TypeVar("State", bound=PageState)
MENU = "rail"
_ICONS = {  # of Material Symbols, which Streamlit brings; the welcome is reached by the name of the program
    "Welcome": "",
    "Heads": "grid_view",
    "Masks": "gradient",
    "Decoding": "stairs",
    "Causes": "help_center",
    "Learning": "trending_down",
    "Anatomy": "splitscreen_left",
    "Implementations": "notes",
    "Lessons": "school",
    "Class": "groups",
}
PATHS = {page: f"pages/{page.lower()}.py" if icon else "dashboard.py" for page, icon in _ICONS.items()}
streamlit_internals.install()
ICON = (ASSETS / "icon.svg").read_text(encoding="utf-8")
# Pages that show no image, and why.
_OF_TEXTS = {
    "Decoding": "It writes no text that could be followed.",
}
_WITHOUT_ASKING = ("Welcome", "Lessons", "Class")  # pages that a step's link cannot lead to
FRAME_STYLES = ("frame.css", "chat.css", "screen.css", "present.css", "contrast.css")


def begin_page(title: str, *, as_it_is: str = "") -> Request:
    """Draw the frame of a page and return the top bar's request.

    A page that ignores interventions says why in `as_it_is`.
    """
    page, line = _begin(title)
    request = top_bar.top_bar()
    _draw_line(line, page, request)
    persistent.opened_link().setdefault("model", request.entry.name)
    if as_it_is:
        interventions.draw_ignored(as_it_is)
    else:
        request = interventions.apply_to(request)
    chat_bar.render_ahead(request.entry, request.messages)
    if request.image and title in _OF_TEXTS:
        page.refusal = f"{title} shows texts, and {request.entry.title} reads images. {_OF_TEXTS[title]}"
    _prepare(page)
    return request


def begin_page_of_its_own(title: str, bar: Callable[[], None]) -> None:
    """Draw the frame of a page that does not use the top bar's model and sentence.

    `bar` draws the page's own controls there, left of the link to copy. Model and sentence are kept for other pages.
    """
    page, line = _begin(title)
    top_bar.draw_own_bar(bar)
    _draw_line(line, page)
    interventions.draw_ignored("This page runs its own models and ignores the changes made on other pages")
    _prepare(page)


def _begin(title: str) -> tuple[Page, DeltaGenerator]:
    """Draw what every page starts with. Return the page, and the place of the summary line for narrow screens."""
    st.set_page_config(page_title=f"{title} · attnviz", page_icon=ICON, layout="wide")
    st.html(style(*FRAME_STYLES))
    browser.watch_browser()
    persistent.begin(title)
    stale_values.begin(title)
    page = Page.begin(title)
    extensions.begin(page)
    navigation.follow(title, PATHS)
    sheet.explain_words(title)
    with st.sidebar:
        _draw_menu(title)
    return page, st.container(key="screen-line")


def _draw_line(place: DeltaGenerator, page: Page, request: Request | None = None) -> None:
    with place:
        problems = screen.draw(page.title, request, sheet.ask)
    sheet.begin(page.title, request)
    page.add(*persistent.linked_problems(problems))


def _prepare(page: Page) -> None:
    persistent.publish(early=True)
    page.above = st.container(key="notes")
    if said := engine.engine_note(persistent.text("model")):
        page.above.warning(literal(said), icon=":material/cloud_off:")
    if page.refusal:
        refuse(page.refusal)
    try:
        hosting.wait(page.above)
    except ValueError as full:
        refuse(str(full))
    if covered := extensions.draw_panels(page):
        st.info(covered, icon=":material/visibility_off:")
        _publish()
        page.say_notes()
        sheet.open_if_asked()
        st.stop()


def page_link(path: str, label: str) -> None:
    """Draw a link to a page as this visitor left it, with the top bar's sentence. Following it is one step for Back."""
    st.page_link(path, label=label, width="stretch", query_params=persistent.address(title_of(path)))


def state_in_address(state: type[State], bounds: Mapping[str, Any] | None = None, start: State | None = None) -> State:
    """Read a state from the address, and show the problems of the address above the picture."""
    found, problems = read(state, persistent.texts(), bounds or {}, start)
    note(*persistent.linked_problems(problems))
    return found


def note(*sentences: str) -> None:
    """Show notes above the picture, such as notes on truncated texts and on links that cannot be followed."""
    current_page().say(*sentences)


def refuse(sentence: str) -> None:
    """Show in one sentence why the page has no picture, and end the run. Typed texts stay."""
    current_page().warn(sentence)
    _end_without_picture()


def _end_without_picture() -> None:
    _publish()
    sheet.open_if_asked()
    st.stop()


def run_or_refuse(make: Callable[[], T]) -> T:
    """Return the result of `make`. If `make` refuses its input with ValueError, the page ends with that message. A
    long run shows a spinner with its seconds.
    """
    try:
        # over the link to the picture that is still seen
        with current_page().running.spinner("Running", show_time=True):
            return make()
    except ValueError as error:
        if engine.has_gone(error):
            st.rerun()  # with the model that is here
        refuse(str(error))
        raise


def trace_or_refuse(request: Request, make: Callable[[Request], T]) -> T:
    """Return the trace that `make` computes for a request.

    A long run shows how many layers are done, and can be stopped; then the page ends without a picture. If `make`
    refuses its input with ValueError, the page ends with that message.
    """

    def run() -> T | None:
        layers = max(count for count, _ in model(request.entry.name).shapes.values())
        return progress.run_pass("trace", request, layers, lambda: make(request))

    found = run_or_refuse(run)
    if found is None:
        _end_without_picture()
    assert found is not None  # or the page has ended
    return found


class PagePart(Protocol[Subject, T]):
    """The part of a page that holds its picture."""

    def make(self, subject: Subject, /) -> T:
        """Compute what this part shows for `subject`, such as a trace. Draw the controls and notes around the part."""
        ...

    def draw(self, made: T, /) -> None:
        """Draw what was made."""
        ...

    def draw_again(self, subject: Subject, /) -> bool:
        """Draw the part as it was, if the browser has painted the last choice by itself; return whether it has."""
        ...

    def drawn_from(self) -> object:
        """Return what the rest of the page depends on, besides the parameters of the top bar."""
        ...


def draw_part(part: PagePart[Subject, T], subject: Subject) -> T:
    """Make what the page shows of `subject`, and draw the result as a fragment; return the result.

    A choice in the fragment runs the fragment alone, which finds everything in the caches. The whole page runs instead
    if the choice changes what the rest of the page depends on, if there is something to say above the picture, and if
    there is something to compute: only a run of the whole page can show how far that is, and be stopped. The whole page
    also runs while a lesson or a class is open, because they watch what is chosen.

    Streamlit keeps the fragment after the visitor has left. So the fragment refers to `subject` weakly, and the cache
    can free `subject`; then the next choice runs the whole page.
    """
    page = current_page()
    before, said = _drawn_from(part), page.said
    made = part.make(subject)
    if extensions.are_wanted():
        part.draw(made)
        return made
    first, given, is_said = [made], weakref.ref(subject), page.said > said

    def run() -> None:
        if first:
            part.draw(first.pop())
            return
        found = given()
        if found is None or is_said or _drawn_from(part) != before:
            st.rerun()
        with running_part():
            persistent.publish()  # what the visitor has chosen in the fragment
            page.say_notes()
            if not part.draw_again(found):
                _ensure_turn()
                part.draw(part.make(found))

    st.fragment(run)()
    return made


def _drawn_from(part: PagePart[Any, Any]) -> object:
    return [persistent.text(name) for name in BAR], part.drawn_from()


def _ensure_turn() -> None:
    """Wait for this visitor's turn, as a run of the whole page does. If too many wait, the whole page says so."""
    try:
        hosting.ensure_turn()
    except ValueError:
        run_whole()


def draw_link(request: Request, trace, view: share.Linkable | None) -> None:
    """Draw the button that copies a link to the picture in the state `view`."""
    page = current_page()
    asked = request.to_params()
    is_written = model(request.entry.name).inputs.takes_target
    page.query = share.shared_query(asked | ({"tgt": share.target(trace)} if is_written else {}), view, trace.model_id)
    with page.link:
        copy_link(page.query, of_step=share.lesson_query(asked, view, persistent.texts()))


def end_page(request: Request, trace, view: share.Linkable | None = None) -> None:
    """Draw the parts of the frame that depend on the run: notes, the link to copy if it is not drawn yet, the status
    bar.
    """
    _publish()
    loaded = model(request.entry.name)
    page = current_page()
    chat_bar.draw_reading(trace)
    page.say_notes(
        (
            *share.link_problems(_still_linked(request), loaded.languages, trace.model_id),
            *trace.info.notes,
            *_reading_notes(request, trace),
        )
    )
    if not page.query:
        draw_link(request, trace, view)
    _ask_the_room(page, page.query)
    _draw_run_status(loaded, trace)
    sheet.open_if_asked(view)


def end_page_of_its_own(view: share.Linkable | None, status: Sequence[str]) -> None:
    """End a page that does not use the top bar's model and sentence.

    `status` has the HTML of the status bar's parts. Without a `view` the page offers no link to copy.
    """
    _publish()
    page = current_page()
    page.say_notes()
    if view is not None:
        with page.link:
            copy_link(share.page_query(view), of_step=share.lesson_query({}, view, persistent.texts()))
        _ask_the_room(page, share.page_query(view))
    _draw_status_bar(status)
    sheet.open_if_asked()


def _publish() -> None:
    """Send the page's address, and the number of this run's last widget update, to the browser."""
    persistent.publish()
    stale_values.end()


def warn(*sentences: str) -> None:
    """Show errors above the picture, and go on with the run."""
    current_page().warn(*sentences)


def _reading_notes(request: Request, trace) -> tuple[str, ...]:
    """Return notes on tokens that the model does not know, and on a source that the model was measured to read
    badly.
    """
    from attnviz.models.translator.reading_notes import ReadableInputs, out_of_depth_note, unknown_tokens_note

    readable = None if trace.interventions else ReadableInputs.from_config(request.entry.reads)
    sentences = (unknown_tokens_note(trace), "" if readable is None else out_of_depth_note(trace, readable))
    return tuple(sentence for sentence in sentences if sentence)


def _still_linked(request: Request) -> dict[str, str]:
    """Return the opened link's texts, without the weights or language of a model or language that was since
    replaced.
    """
    linked = dict(persistent.opened_link())
    if linked["model"] != request.entry.name:
        linked.pop("weights", None)
        if not request.entry.languages:  # a checkpoint has codes of its own: a translator's are no news there
            linked.pop("to", None)
    if linked.get("to") != persistent.text("to"):
        linked.pop("to", None)
    return linked


def _ask_the_room(page: Page, query: str) -> None:
    """Draw the button *Ask the room*, whose form starts a class with one question about the page's picture.

    `query` is the query of the link to this picture.
    """
    if page.title in _WITHOUT_ASKING:
        return
    with st.sidebar:
        pressed = st.button("Ask the room", key="ask-the-room", icon=":material/record_voice_over:", width="stretch")
    if pressed:
        form = door("draw_asking_form")
        st.dialog("Ask the room", width="medium", icon=":material/record_voice_over:")(form)(page.title, query)


def title_of(path: str) -> str:
    """Return the title of the page in this file."""
    return next(page for page, known in PATHS.items() if known == path)


def _draw_menu(current: str) -> None:
    """Draw the menu with the page `current` marked. A click in it is one step for Back."""
    mount.rail([_menu_entry(page, current) for page in PATHS], current, key=MENU, on_go=_go_to_page)
    if navigation.is_going():  # clicked when the server had just been restarted
        st.rerun()


def _menu_entry(page: str, current: str) -> dict[str, Any]:
    # Of this server, wherever its pages begin: an address that begins with no slash is read against the page's own.
    place = page.lower() if _ICONS[page] else "."
    query = urlencode(persistent.address(page))
    shared = [name for name in FOCUS.get(page, ()) if name in FOCUS.get(current, ())]
    return {"page": page, "icon": _ICONS[page], "address": f"{place}?{query}" if query else place, "shared": shared}


def _go_to_page() -> None:
    """Open the page that was clicked in the menu, in the next run."""
    asked = reported_value(MENU, "go", {"page": TEXT})
    if asked is not None and asked["page"] in PATHS:
        navigation.send(asked["page"])


def _draw_run_status(loaded, trace) -> None:
    """Draw the status bar of a run: the model, its size, the number of tokens, and the time that the run took."""
    times = f"{term('forward')} <b>{trace.info.forward_seconds * 1e3:.0f} ms</b>"
    if trace.info.decoding_seconds > 1e-3:
        times += f", {term('decoding')} <b>{trace.info.decoding_seconds * 1e3:.0f} ms</b>"
    src, tgt = len(trace.sentences[0].src), len(trace.sentences[0].tgt)
    tokens = term("tokens")
    # The first token of a target is given to the model; the model does not write it.
    tokens = f"<b>{src}</b> {tokens} in · <b>{tgt - 1}</b> out" if src and tgt else f"<b>{src or tgt}</b> {tokens}"
    parts = (
        term("device", f"<b>{trace.info.device}</b> {trace.info.dtype}"),
        f"{_parameter_count(loaded.n_parameters)} {term('parameters')}, {_model_size(trace)}",
        tokens,
        times,
        f"{term('weights')} {html.escape(trace.model_id)}",
    )
    _draw_status_bar(parts)


def _draw_status_bar(parts: Sequence[str]) -> None:
    """Draw the status bar from the HTML of its parts."""
    st.html("<div class='status-bar' role='status'>" + "".join(f"<span>{part}</span>" for part in parts) + "</div>")


def _parameter_count(parameters: int) -> str:
    """Format a number of parameters in millions, or in thousands if it is small."""
    return f"{parameters / 1e6:.1f} M" if parameters >= 1e5 else f"{parameters / 1e3:.0f} k"


def _model_size(trace) -> str:
    """Format a model's layers per stack, heads, and head size as HTML."""
    own = [kind for kind in trace.kinds if kind != "cross"]
    layers = "+".join(str(trace.shape(kind)[0]) for kind in own)
    size = f"<b>{layers}</b> {term('layers')} × <b>{trace.shape(trace.kinds[0])[1]}</b> {term('heads')}"
    call = None if trace.weights_only else trace.call(trace.kinds[0], 0)
    return f"{size}, {term('d_k')} <b>{call.query.shape[3]}</b>" if call is not None and call.has_queries else size
