"""The visitor's choices as texts, which are the parameters of the page's address.

The session holds the texts. When a page is opened, and on Back and Forward, the session takes them from the address;
otherwise the session's texts are written into the address. Every choice goes through `write`. `publish` sends the
address to the browser before the model runs and again at the end of the run, which adds one entry to the browser's
history for each address that differs from the last. docs/developing/how-it-works.md has the details.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from attnviz.app import streamlit_internals
from attnviz.kit.fields import Problem

OF_WINDOW = ("panel", "beside")  # what a window is to another one: stays, whatever address is opened in it
BAR = (
    "model",
    "src",
    "image",
    "chat",
    "to",
    "tgt",
    "new",
    "do",
    "lesson",
    "lesson_step",
    "class",
    *OF_WINDOW,
)  # on every page
SITE = ("kind", "layer", "head")
# The head in focus goes along to the pages that show one.
FOCUS: dict[str, tuple[str, ...]] = {
    "Heads": SITE,
    "Masks": SITE,
    "Decoding": ("layer", "head"),
    "Causes": SITE,
    "Anatomy": SITE,
    "Implementations": SITE,
}
# Names that older links use: a name means one thing on every page now, and a tab is called tab.
FORMER = {
    "Heads": {"part": "quadrant"},
    "Masks": {"room": "tab", "other": "instead"},
    "Decoding": {"map_layer": "layer", "map_head": "head"},
    "Anatomy": {"part": "tab"},
}
# What a page shows while nothing is said: a sentence that a single head turns, so that there is something to see.
OPENING: dict[str, dict[str, str]] = {
    "Causes": {"src": "I love you.", "to": "fr", "do": "off.cross.2.0"},
}
OF_LINKS = ("v", "weights")  # what a shared link says besides, and no address of ours
_KEY = "address"
_MOST_LINKS = 24  # links to other pages that one page may offer


class Texts(dict[str, str]):
    """Texts by name, "" for a name without a choice. `linked` has the names whose text came with the opened link."""

    linked: frozenset[str] = frozenset()

    def __missing__(self, name: str) -> str:
        return ""


@dataclass
class _Memory:
    """The session's texts and what the browser knows about them.

    `shared` has the texts that are kept from page to page, `own` those of each page. `shown` is the address that the
    page should have. `told` is the address that the server sent to the browser last. On a slow line it differs from the
    address in the browser's request; the browser follows what it received last.

    `linked` has the names whose text came with the address, `drawn` the keys of the widgets that this visit to the page
    has drawn, and `pending_links` the newest links with texts that the session does not have yet. `deferred` delays
    the next address until the new model is loaded. `unsupported` has the texts, by page, name and model, that this
    model cannot use; another model may. `known` has the keys of the components for which this session has called
    `catch_up`.
    """

    page: str
    shared: dict[str, str] = field(default_factory=dict)
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)
    opened_link: dict[str, str] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)
    pending_links: deque[dict[str, str]] = field(default_factory=lambda: deque(maxlen=_MOST_LINKS))
    unsupported: dict[tuple[str, str, str], str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    is_changed: bool = False
    deferred: bool = False


def begin(page: str) -> None:
    """Decide whether this run takes its texts from the address or from the session. Call this first in each run."""
    query = _query()
    memory: _Memory | None = st.session_state.get(_KEY)
    if memory is not None:
        memory.drawn = memory.drawn if memory.page == page else set()
    is_opened = memory is None or memory.page != page or streamlit_internals.is_back_or_forward()
    if memory is None:
        memory = st.session_state[_KEY] = _Memory(page)
        _follow(memory, page, query)
    elif streamlit_internals.is_back_or_forward() or (memory.page != page and query in memory.pending_links):
        _follow(memory, page, query)
    elif memory.page != page:
        memory.page, memory.linked = page, set()
        memory.shown, memory.is_changed = address(page), False
    if is_opened:
        memory.told = query


def _follow(memory: _Memory, page: str, query: dict[str, str]) -> None:
    """Replace the session's texts by those in the address; a text that the address leaves out is removed."""
    former, shown = FORMER.get(page, {}), query
    query = {former.get(name, name): text for name, text in query.items()}
    shared, said_before = _shared_names(page), window_texts(memory.shared)
    for name in shared:
        memory.shared.pop(name, None)
        if name in query:
            memory.shared[name] = query[name]
    unsaid = {name: chosen for name, chosen in said_before.items() if name not in query}
    memory.shared.update(unsaid)
    memory.own[page] = {name: text for name, text in query.items() if text and name not in (*shared, *OF_LINKS, *SITE)}
    memory.page, memory.shown, memory.linked = page, shown, set(query)
    memory.is_changed, memory.deferred = bool(unsaid), False
    if not memory.opened_link or any(name in query for name in OF_LINKS):
        memory.opened_link = {name: query[name] for name in (*OF_LINKS, "model", "to") if name in query}


def _shared_names(page: str) -> tuple[str, ...]:
    """List the names in a page's address that are kept when the visitor opens another page."""
    return BAR + FOCUS.get(page, ())


def text(name: str, default: str = "") -> str:
    """Return the text chosen for `name` on this page; without a choice the text of the page's opening, or `default`."""
    memory = _memory()
    return _place(memory, name).get(name, _opening_texts(memory).get(name, default))


def page() -> str:
    """Return the title of the page that is open."""
    return _memory().page


def texts() -> Texts:
    """Return all texts that are chosen on this page."""
    memory = _memory()
    shared = {name: memory.shared.get(name, "") for name in _shared_names(memory.page)}
    found = Texts(shared | _opening_texts(memory) | memory.own.get(memory.page, {}))
    found.linked = frozenset(memory.linked)
    return found


def write(texts: Mapping[str, str | None]) -> None:
    """Write choices of the visitor into the session; None removes one.

    The browser's Back button undoes everything that one run has written. A page on which nothing was chosen shows its
    opening example; the first choice on it also writes the rest of the example, so that the address is complete.
    """
    memory = _memory()
    if opening := _opening_texts(memory):
        if all((text(name) or None) == (chosen or None) for name, chosen in texts.items()):
            return
        memory.shared.update({name: said for name, said in opening.items() if name != "do" or "model" not in texts})
    for name, chosen in texts.items():
        place = _place(memory, name)
        if place.get(name) == chosen or (name != "src" and not place.get(name) and not chosen):
            continue
        memory.is_changed = True
        memory.linked.discard(name)
        if chosen is None:
            del place[name]
        else:
            place[name] = chosen


def _opening_texts(memory: _Memory) -> dict[str, str]:
    """Return the texts of a page's opening example, or {} once the address has a sentence, a model or a choice."""
    said = memory.own.get(memory.page) or any(name in memory.shared for name in BAR if name not in OF_WINDOW)
    return {} if said else OPENING.get(memory.page, {})


def _place(memory: _Memory, name: str) -> dict[str, str]:
    """Return the dictionary that holds `name`: the texts shared by all pages, or those of this page."""
    return memory.shared if name in _shared_names(memory.page) else memory.own.setdefault(memory.page, {})


def write_model(name: str) -> None:
    """Choose another model, and forget which texts came with the link: they were meant for the model before."""
    memory = _memory()
    write({"model": name})
    memory.linked, memory.deferred = set(), True


def address(page: str) -> dict[str, str]:
    """Return the address of a page for this visitor: the choices made on that page, and those shared by all pages."""
    memory = _memory()
    shared = {name: memory.shared.get(name, "") for name in _shared_names(page)}
    found = {
        name: chosen
        for name, chosen in (shared | memory.own.get(page, {})).items()
        if chosen and memory.unsupported.get((page, name, memory.shared.get("model", ""))) != chosen
    }
    return found | ({"src": ""} if memory.shared.get("src") == "" else {})  # an emptied field is a choice, too


def window() -> dict[str, str]:
    """Return the texts about this browser window. Every page that is opened in the window has them in its address."""
    return window_texts(_memory().shared)


def link_to(page: str, more: Mapping[str, str]) -> dict[str, str]:
    """Return the address of a link to another page, with the texts in `more` added to those that the session holds."""
    found = {name: chosen for name, chosen in (address(page) | dict(more)).items() if chosen}
    links = _memory().pending_links
    if found not in links:
        links.append(found)
    return found


def expect_link(query: Mapping[str, str]) -> None:
    """Note an address that a link carries, so that the session follows the address when the link is opened."""
    _memory().pending_links.append(dict(query))


def follow(query: Mapping[str, str]) -> None:
    """Take all texts of the open page from this address, as if the page had been opened with it: one step for Back."""
    memory = _memory()
    _follow(memory, memory.page, dict(query))


def opened_link() -> dict[str, str]:
    """Return version, weights, model and language of the link that was opened."""
    return _memory().opened_link


def linked_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Select the problems that concern texts from the opened link, since the visitor should read about those.

    Other texts that this model does not support are left out of the address silently.
    """
    memory, said = _memory(), []
    for problem in problems:
        if problem.name in memory.linked:
            said.append(problem)
        elif not problem.is_part:
            memory.unsupported[memory.page, problem.name, text("model")] = text(problem.name)
    return said


def catch_up(key: str, take: Callable[[], None]) -> None:
    """Take over a choice that the visitor made in a component just before the server was restarted.

    The browser sends that choice with the first run of the new session, or with a run that interrupts the first.
    Streamlit does not know the component yet, and so does not report the choice as a change. Call this after the
    component with this `key` has been drawn; `take` handles the choice.
    """
    memory: _Memory | None = st.session_state.get(_KEY)
    if memory is None or key in memory.known:
        return
    memory.known.add(key)
    if st.session_state.get(key):
        take()
        if memory.is_changed:
            st.rerun()


def is_drawn(key: str) -> bool:
    """Whether an earlier run of this visit to the page drew the widget. Notes that the widget is drawn now."""
    drawn = _memory().drawn
    is_known = key in drawn and key in st.session_state
    drawn.add(key)
    return is_known


def publish(*, early: bool = False) -> None:
    """Send the page's address to the browser.

    With `early`, which is before the model runs, nothing is sent if another model was just chosen.
    """
    memory = _memory()
    if early and memory.deferred:
        return
    memory.deferred = False
    if memory.is_changed:
        memory.shown, memory.is_changed = address(memory.page), False
    # The browser may not have received `told` yet; its request is then older than `told`, so both have to agree. The
    # browser ignores an address that it already has. A run that is cut short ends inside `from_dict` and tells nothing.
    if not memory.told == memory.shown == _query():
        st.query_params.from_dict(memory.shown)
        memory.told = dict(memory.shown)


def _query() -> dict[str, str]:
    """Read the address that the browser sent. NUL characters become U+FFFD, since no text field can show a NUL."""
    return {name: text.replace("\0", "\ufffd") for name, text in st.query_params.to_dict().items()}


def _memory() -> _Memory:
    return st.session_state[_KEY]


def window_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Select the parameters of an address that describe the browser window, such as whether the menu is hidden."""
    return {name: texts[name] for name in OF_WINDOW if texts.get(name)}
