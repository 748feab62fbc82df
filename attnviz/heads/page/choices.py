"""The state of the page Heads, as the address gives it and as the visitor changes it in a component."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz.analysis.metric_table import METRICS
from attnviz.app import extensions, interventions, layout
from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments
from attnviz.app.frame.page import is_part
from attnviz.app.reports import reported_view
from attnviz.heads.heads_state import HeadsState, read_heads_state
from attnviz.heads.page.state import PAGE, WHOLE, HeadsPageState, read_page_state, write_report
from attnviz.heads.page.tabs import controls_of_tab
from attnviz.hosts import registry
from attnviz.kit.caching import Host
from attnviz.kit.fields import PageState
from attnviz.kit.focus import SiteBounds
from attnviz.kit.glossary import definition
from attnviz.kit.picture import Picture
from attnviz.maps.grouping import Groups
from attnviz.maps.quadrants import quadrants
from attnviz.models.catalogue import Entry
from attnviz.tracing.causes.switches import Head, heads_off
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

_SHOWN, _OFF = "heads-shown", "heads-off"


@dataclass(frozen=True)
class ShownTab(PageState):
    """What the page shows: the `texts` of its link, the `rows` of the other tabs as query tokens (if the open tab uses
    them), and the `view` that was sent to the browser.

    `is_whole` tells that the browser has all that the picture needs for a choice that no Python answers. `is_painted`
    tells that the last choice was such a one, so that nothing needs to be made.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    rows: Groups = ()
    view: Mapping[str, Any] = field(default_factory=dict)
    is_whole: bool = False
    is_painted: bool = False

    def to_params(self) -> dict[str, str]:
        """Return the texts of the link."""
        return dict(self.texts)


def current_state(trace: TraceLike, entry: Entry, host: Host) -> HeadsPageState:
    """Parse the state from the address parameters, and show a note above the picture for each invalid one. If the map
    has quadrants, draw the choice between them beside the tabs.
    """
    texts = persistent.texts()
    heads, problems = read_heads_state(texts, SiteBounds.from_trace(trace), METRICS, HeadsState(**entry.start))
    there = {f"{one.query_segment}-{one.key_segment}": one.name for one in quadrants(trace, heads.kind)}
    there = there if len(there) > 1 else {}
    page, more = read_page_state(texts, trace, heads, there)
    layout.note(*persistent.linked_problems((*problems, *more)))
    picture = registry.tabs(PAGE)[page.tab]
    if there and picture.draws_every_map and not is_part():  # the other tabs show every token
        with controls_of_tab():
            _choose_quadrant(there, page.quadrant, is_pair=heads.kind == "encoder_self")
    rules = picture.tab_rules
    page = replace(page, states={**page.states, page.tab: rules.settle(trace, page.open, page, host)})
    st.session_state[_SHOWN] = ShownTab(page.to_params(), rules.rows(trace, page))
    st.session_state[_OFF] = _heads_off(trace)
    return page


def _choose_quadrant(found: dict[str, str], chosen: str, *, is_pair: bool) -> None:
    said = "A, B: the two sentences" if is_pair else "A: the prompt, B: what was written"
    st.caption(said, width="content", help=definition("Quadrants"))
    segments("quadrant", "Quadrant of the maps", {WHOLE: "A + B"} | found, chosen, hide_label=True)


def _heads_off(trace: TraceLike) -> tuple[Any, list[Head]]:
    shapes: dict[Kind, tuple[int, int]] = {kind: trace.shape(kind) for kind in trace.kinds}
    return shapes, sorted(heads_off(trace.interventions, shapes))


def remember_view(view: Mapping[str, Any], *, is_whole: bool) -> None:
    """Remember the view that was sent to the browser, and whether the browser has all that other views need."""
    st.session_state[_SHOWN] = replace(shown_tab(), view=view, is_whole=is_whole)


def shown_tab() -> ShownTab:
    """Return what the page shows, with the choices that were made since."""
    return st.session_state.get(_SHOWN) or ShownTab()


def is_painted() -> bool:
    """Check, once after each choice, whether the browser has painted the choice by itself."""
    shown = shown_tab()
    st.session_state[_SHOWN] = replace(shown, is_painted=False)
    return shown.is_painted


def adopt(picture: Picture) -> Callable[[], None]:
    """Return the callback that writes what was chosen in a picture's component into the address."""
    return partial(_adopt, picture)


def _adopt(picture: Picture) -> None:
    view = reported_view(picture.name, picture.state_type)
    if view is None:
        return
    if picture.tab == "heads":
        _switch(view.pop("off", ()))
        if (asking := extensions.asking_extension()) is not None:
            asking.adopt_marks()
    shown = shown_tab()
    texts = picture.tab_rules.choose(view, write_report(picture, view), shown)
    news = {name: text for name, text in texts.items() if text != shown.texts.get(name)}
    persistent.write(({"followed": ""} if "row" in news else {}) | news)  # Flow follows the most recently pinned row
    is_painted = shown.is_whole and not news.keys() & set(picture.python_only)
    st.session_state[_SHOWN] = replace(
        shown, texts={**shown.texts, **news}, view={**shown.view, **view}, is_painted=is_painted
    )


def _switch(sites: tuple[tuple[str, int, int], ...]) -> None:
    """Switch heads off and on as reported by the component."""
    shapes, before = st.session_state.get(_OFF, ({}, []))
    heads = {(kind, at, head) for kind, (n, m) in shapes.items() for at in range(n) for head in range(m)}
    wanted = sorted(Head(*site) for site in sites if site in heads)  # type: ignore[arg-type]  # checked above
    if wanted != before:
        interventions.switch_off(wanted, shapes)
        st.session_state[_OFF] = shapes, wanted
