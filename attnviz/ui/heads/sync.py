"""The Heads page's view as the address asks for it, and as the visitor changes it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.analysis.heads.metric_table import METRICS
from attnviz.models.catalogue import Entry
from attnviz.pictures.fields import SiteBounds
from attnviz.tracing.causes.switches import Head, heads_off
from attnviz.ui import extensions, interventions, layout
from attnviz.ui.address import persistent
from attnviz.ui.heads.state import HeadsState, view_of
from attnviz.ui.reported import OPTIONAL_NUMBER, SITE, SWITCH, TEXT, reported

if TYPE_CHECKING:
    from attnviz.tracing.trace_like import TraceLike
    from attnviz.transformer.probe import Kind

COMPONENT = "heads"  # the key of the widget
TOLD = {
    **dict.fromkeys(("kind", "sort", "tint", "specials", "scale", "compare", "bars", "cells"), TEXT),
    **dict.fromkeys(("words", "mask", "sink", "plotly", "table"), SWITCH),
    "layer": SITE,
    "head": SITE,
    "row": OPTIONAL_NUMBER,
    "pins": list,
    "off": list,
    "zoom": (list, type(None)),
}
_SHOWN = "heads-shown"
_OFF = "heads-off"


def current(texts: Mapping[str, str], trace, entry: Entry) -> HeadsState:
    """The view that the address's texts ask for; what they ask wrongly is said above the picture."""
    start = HeadsState(**entry.start)
    view, problems = view_of(texts, SiteBounds.of(trace), METRICS, start)
    layout.note(*persistent.of_link(problems))
    st.session_state[_SHOWN] = view.to_params()
    return view


def off(trace: "TraceLike") -> list[list]:
    """The heads that are off in this run, as the component knows them."""
    shapes: "dict[Kind, tuple[int, int]]" = {kind: trace.shape(kind) for kind in trace.kinds}
    found = sorted(heads_off(trace.interventions, shapes))
    st.session_state[_OFF] = shapes, found
    return [list(head) for head in found]


def adopt() -> None:
    """Take over what was chosen in the component: it becomes the address."""
    known = reported(COMPONENT, "view", TOLD)
    if known is None or not all(isinstance(site, list) for site in (*known["pins"], *known["off"])):
        return
    _switch(known.pop("off"))
    if (asking := extensions.asking()) is not None:
        asking.adopt_marks()
    known["pins"] = tuple(tuple(pin) for pin in known["pins"])
    known["zoom"] = tuple(known["zoom"] or ()) or None
    shown = st.session_state.get(_SHOWN, {})
    news = {name: text for name, text in HeadsState(**known).to_params().items() if text != shown.get(name)}
    persistent.write(news | ({"followed": ""} if "row" in news else {}))  # Flow follows the row that is pinned last
    st.session_state[_SHOWN] = shown | news


def _switch(sites: list[list]) -> None:
    """Switch heads off and on as the component has them."""
    shapes, before = st.session_state.get(_OFF, ({}, []))
    heads = {(kind, at, head) for kind, (n, m) in shapes.items() for at in range(n) for head in range(m)}
    wanted = sorted(Head(*site) for site in map(tuple, sites) if site in heads)
    if wanted != before:
        interventions.switch_off(wanted, shapes)
        st.session_state[_OFF] = shapes, wanted
