"""State of the page Heads in a link: the open tab, and the state of each tab's picture."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from attnviz.heads.heads_state import HeadsState
from attnviz.hosts import registry
from attnviz.kit.fields import PageState, Problem, Say, declare, read, specs_of, text, write, write_view
from attnviz.kit.focus import SiteBounds
from attnviz.kit.picture import Picture
from attnviz.maps.options import MapOptions
from attnviz.tracing.trace_like import TraceLike

PAGE = "Heads"
WHOLE = "whole"


def _read_tab(text: str, bound: object, default: str, say: Say) -> str:
    tabs = registry.tabs(PAGE)
    if text not in tabs:
        say(f"it can be {', '.join(tabs)}", default)
    return text if text in tabs else default


def _states_at_first() -> Mapping[str, Any]:
    return {tab: one.state_type() for tab, one in registry.tabs(PAGE).items()}


@dataclass(frozen=True)
class HeadsPageState(PageState):
    """The open `tab`, and the state of each tab by its name.

    `quadrant` is "whole", or for example "0-1": queries of the first segment and keys of the second. `against` is the
    language of the links made by hand that Alignment uses if the target language is unknown. `linked` are the names of
    the parameters that the address contained.
    """

    tab: str = declare("heads", _read_tab)
    quadrant: str = declare(WHOLE, lambda text, there, default, say: text if text in there else default)
    against: str = text(limit=20)
    states: Mapping[str, Any] = field(default_factory=_states_at_first)
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
        """Return the fields of every tab as address parameters."""
        tabs = registry.tabs(PAGE)
        written = [write(state, registry.names_in_address(tabs[tab])) for tab, state in self.states.items()]
        return {name: text for texts in (*written, write(self)) for name, text in texts.items()}


def write_report(picture: Picture, view: Mapping[str, Any]) -> dict[str, str]:
    """Return what a browser reports about a picture as address parameters."""
    return write_view(picture.state_type, view, registry.names_in_address(picture))


def read_page_state(
    texts: Mapping[str, str], trace: TraceLike, heads: HeadsState, quadrants: Mapping[str, str] = MappingProxyType({})
) -> tuple[HeadsPageState, tuple[Problem, ...]]:
    """Parse the page's state from address parameters, and return it with a message for each invalid one.

    Fields that other tabs share with the Heads picture, such as the kind and the pinned row, are taken from `heads`.
    """
    problems: list[Problem] = []
    states: dict[str, Any] = {"heads": heads}
    sites = SiteBounds.from_trace(trace).by_field()
    for tab, picture in registry.tabs(PAGE).items():
        if tab != "heads":
            rules = picture.tab_rules
            bounds, start = {**sites, **rules.bounds(trace, heads)}, rules.start(trace, heads)
            states[tab], wrong = _read_tab_state(picture, texts, heads, bounds, start)
            problems += wrong
    given: dict[str, Any] = {"states": states, "linked": getattr(texts, "linked", frozenset())}
    page, wrong = read(HeadsPageState, texts, {"quadrant": quadrants}, **given)
    return page, (*problems, *wrong)


def _read_tab_state(
    picture: Picture, texts: Mapping[str, str], heads: HeadsState, bounds: Mapping[str, Any], start: Any
) -> tuple[Any, tuple[Problem, ...]]:
    named = registry.names_in_address(picture)
    names = {name: named(spec.name or name) for name, spec in specs_of(picture.state_type).items()}
    shared = {name: getattr(heads, address) for name, address in names.items() if hasattr(heads, address)}
    return read(picture.state_type, texts, bounds, start, named, **shared)
