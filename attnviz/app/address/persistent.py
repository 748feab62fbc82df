"""The visitor's choices, as texts: the address says them, a change of page keeps them, Back and Forward restore them.

The session holds the texts. They follow the address when a page is opened and on Back and Forward; otherwise the
address follows them. Every choice goes through `write`. `publish` tells the browser of all at once, before the model
runs and at the end of the run: one entry in its history for each address that differs. docs/developing/how-it-works.md
tells the rest.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from attnviz.app import streamlit_internals
from attnviz.app.address.names import BAR, FOCUS, FORMER, OF_LINKS, OF_WINDOW, OPENING, SITE, window_texts
from attnviz.kit.fields import Problem

_KEY = "address"
_MOST_LINKS = 24  # links to other pages that one page may offer


class Texts(dict[str, str]):
    """Texts by name, "" for one that is not said. `linked` are the names that the address brought."""

    linked: frozenset[str] = frozenset()

    def __missing__(self, name: str) -> str:
        return ""


@dataclass
class _Memory:
    """`shared` go along from page to page; `own` are each page's. `shown` is the address that the page should have.

    `told` is the address that the browser was last told. On a slow line it differs from the address in the browser's
    request, and the browser follows what it was told last.

    `linked` are the names whose text came with the address; `drawn` are the widgets of this visit to the page;
    `pending_links` are the newest links that say more than the session does; `deferred` holds the address back
    until the new model has said what it has. `unsupported` are the texts, by page, name and model, that this model
    has no use for: the next one may. `is_new` is true in the first run.
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
    is_new: bool = True
    is_changed: bool = False
    deferred: bool = False


def begin(page: str) -> None:
    """Call first in each run: decide whether the address holds or the session."""
    query = _query()
    memory: _Memory | None = st.session_state.get(_KEY)
    if memory is not None:
        memory.is_new = False
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
    """Take over what the address says, and what it leaves out."""
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
    """List the names that go along from page to page, in a page's address."""
    return BAR + FOCUS.get(page, ())


def text(name: str, default: str = "") -> str:
    """Return the text that is chosen for `name` on this page, else the page's opening, else `default`."""
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
    """Take over choices of the visitor; None gives one up. All texts of a run are one step for Back.

    The first choice on a page that shows its opening is one of that: from then on the address says the rest of it too.
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
    """Return the texts that a page opens on, while the address says no sentence, model or choice of this page."""
    said = memory.own.get(memory.page) or any(name in memory.shared for name in BAR if name not in OF_WINDOW)
    return {} if said else OPENING.get(memory.page, {})


def _place(memory: _Memory, name: str) -> dict[str, str]:
    """Return the texts that hold `name`: those that go along, or this page's own."""
    return memory.shared if name in _shared_names(memory.page) else memory.own.setdefault(memory.page, {})


def write_model(name: str) -> None:
    """Choose another model. What the link asked of the one before is no news of this one."""
    memory = _memory()
    write({"model": name})
    memory.linked, memory.deferred = set(), True


def address(page: str) -> dict[str, str]:
    """Return the address of a page for this visitor: its own choices, and those that go along."""
    memory = _memory()
    shared = {name: memory.shared.get(name, "") for name in _shared_names(page)}
    found = {
        name: chosen
        for name, chosen in (shared | memory.own.get(page, {})).items()
        if chosen and memory.unsupported.get((page, name, memory.shared.get("model", ""))) != chosen
    }
    return found | ({"src": ""} if memory.shared.get("src") == "" else {})  # an emptied field is a choice, too


def window() -> dict[str, str]:
    """Return the texts about this window: they are in the address of every page that is opened in it."""
    return window_texts(_memory().shared)


def link_to(page: str, more: Mapping[str, str]) -> dict[str, str]:
    """Return the address of a link to another page that asks for `more` than the session holds."""
    found = {name: chosen for name, chosen in (address(page) | dict(more)).items() if chosen}
    links = _memory().pending_links
    if found not in links:
        links.append(found)
    return found


def expect_link(query: Mapping[str, str]) -> None:
    """Follow this address when another page is opened with it."""
    _memory().pending_links.append(dict(query))


def follow(query: Mapping[str, str]) -> None:
    """Follow an address of the page that is open, as if it had been opened with it: one step for Back."""
    memory = _memory()
    _follow(memory, memory.page, dict(query))


def opened_link() -> dict[str, str]:
    """Return version, weights, model and language of the link that was opened."""
    return _memory().opened_link


def linked_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Select the problems of texts that a link brought; other texts that this model does not support leave the address
    without a word.
    """
    memory, said = _memory(), []
    for problem in problems:
        if problem.name in memory.linked:
            said.append(problem)
        elif not problem.is_part:
            memory.unsupported[memory.page, problem.name, text("model")] = text(problem.name)
    return said


def catch_up(key: str, take: Callable[[], None]) -> None:
    """Call after drawing a component: what was chosen in it when the server had just been restarted is taken over.

    It comes with the first run of a new session, which knows no component yet whose change it could tell.
    """
    memory: _Memory | None = st.session_state.get(_KEY)
    if memory is not None and memory.is_new and st.session_state.get(key):
        take()
        if memory.is_changed:
            st.rerun()


def is_drawn(key: str) -> bool:
    """Whether a widget was there before in this visit to the page; from now on it was."""
    drawn = _memory().drawn
    is_known = key in drawn and key in st.session_state
    drawn.add(key)
    return is_known


def publish(*, early: bool = False) -> None:
    """Tell the browser where this page is now; `early`, before the model has run, unless it is another model."""
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
    """Read the address as the browser has it. No field can show a NUL: it becomes U+FFFD."""
    return {name: text.replace("\0", "\ufffd") for name, text in st.query_params.to_dict().items()}


def _memory() -> _Memory:
    return st.session_state[_KEY]
