"""State of the page Heads in a link: the open tab, the state of its picture, and what was chosen on the other tabs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from attnviz.app.address.persistent import BAR
from attnviz.heads.heads_state import HeadsState
from attnviz.hosts import registry
from attnviz.kit.fields import PageState, Problem, Say, declare, read, specs_of, text, write, write_view
from attnviz.kit.focus import SiteBounds
from attnviz.kit.picture import Picture
from attnviz.maps.options import MapOptions
from attnviz.tracing.trace_like import TraceLike

PAGE = "Heads"
WHOLE = "whole"
_OF_ALL_PAGES = (*BAR, "present")  # texts of an address that no picture declares


def _read_tab(text: str, bound: object, default: str, say: Say) -> str:
    tabs = registry.tabs(PAGE)
    if text not in tabs:
        say(f"it can be {', '.join(tabs)}", default)
    return text if text in tabs else default


def _states_at_first() -> Mapping[str, Any]:
    return {tab: one.state_type() for tab, one in registry.tabs(PAGE).items()}


@dataclass(frozen=True)
class HeadsPageState(PageState):
    """The open `tab`, and the `states` of tabs by the tab's name.

    After reading an address, `states` has only the state of the tab Heads, parts of which all tabs share, and that of
    the open tab. `closed` has the address parameters of the tabs that are not open. `quadrant` is "whole", or for
    example "0-1" for queries of the first segment and keys of the second. `against` is a language: if the target
    language is unknown, Alignment compares with this language's links made by hand. `linked` has the names of the
    parameters that the address contained.
    """

    tab: str = declare("heads", _read_tab)
    quadrant: str = declare(WHOLE, lambda text, there, default, say: text if text in there else default)
    against: str = text(limit=20)
    states: Mapping[str, Any] = field(default_factory=_states_at_first)
    closed: Mapping[str, str] = field(default_factory=dict)
    linked: frozenset[str] = frozenset()

    @property
    def heads(self) -> HeadsState:
        """The state of the tab Heads, parts of which the other tabs share."""
        return self.states["heads"]

    @property
    def open(self) -> Any:
        """The state of the open tab."""
        return self.states[self.tab]

    @property
    def segments(self) -> tuple[int, int] | None:
        """The segments of queries and keys that the quadrant selects; None for all."""
        query, _, key = self.quadrant.partition("-")
        return (int(query), int(key)) if key else None

    @property
    def options(self) -> MapOptions:
        """The map options for the kind in focus."""
        return self.heads.options(self.heads.kind, self.segments)

    def to_params(self) -> dict[str, str]:
        """Return the fields of these tabs, and the parameters of the other tabs, as address parameters."""
        tabs = registry.tabs(PAGE)
        written = [write(state, registry.names_in_address(tabs[tab])) for tab, state in self.states.items()]
        return {name: text for texts in (self.closed, *written, write(self)) for name, text in texts.items()}


def write_report(picture: Picture, view: Mapping[str, Any]) -> dict[str, str]:
    """Return what a browser reports about a picture as address parameters."""
    return write_view(picture.state_type, view, registry.names_in_address(picture))


def read_page_state(
    texts: Mapping[str, str], trace: TraceLike, heads: HeadsState, quadrants: Mapping[str, str] = MappingProxyType({})
) -> tuple[HeadsPageState, tuple[Problem, ...]]:
    """Parse the page's state from address parameters, and return it with a message for each invalid one.

    Only the open tab is read. Fields that it shares with the Heads picture, such as the kind and the pinned row, are
    taken from `heads`.
    """
    given: dict[str, Any] = {"states": {"heads": heads}, "linked": getattr(texts, "linked", frozenset())}
    given["closed"] = {name: said for name, said in texts.items() if said and name not in _OF_ALL_PAGES}
    page, problems = read(HeadsPageState, texts, {"quadrant": quadrants}, **given)
    if page.tab != "heads":
        opened, wrong = _read_tab_state(registry.tabs(PAGE)[page.tab], texts, trace, heads)
        page, problems = replace(page, states={"heads": heads, page.tab: opened}), (*wrong, *problems)
    return page, problems


def _read_tab_state(
    picture: Picture, texts: Mapping[str, str], trace: TraceLike, heads: HeadsState
) -> tuple[Any, tuple[Problem, ...]]:
    rules, named = picture.tab_rules, registry.names_in_address(picture)
    bounds = {**SiteBounds.from_trace(trace).by_field(), **rules.bounds(trace, heads)}
    names = {name: named(spec.name or name) for name, spec in specs_of(picture.state_type).items()}
    shared = {name: getattr(heads, address) for name, address in names.items() if hasattr(heads, address)}
    return read(picture.state_type, texts, bounds, rules.start(trace, heads), named, **shared)
