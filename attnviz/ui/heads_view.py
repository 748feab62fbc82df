"""The Heads page's view as the address asks for it, and as the visitor changes it."""

from collections.abc import Mapping

import streamlit as st

from attnviz.analysis.metrics import METRICS
from attnviz.models.catalogue import Entry
from attnviz.ui import frame
from attnviz.ui.address import persistent
from attnviz.ui.heads_link import FIELDS, Bounds, View, view_of

COMPONENT = "heads"
_SHOWN = "heads-shown"


def current(texts: Mapping[str, str], trace, entry: Entry) -> View:
    """The view that the address's texts ask for; what they ask wrongly is said above the picture."""
    start = View(**entry.start)
    shapes = {kind: trace.shape(kind) for kind in trace.kinds}
    bounds = Bounds(trace.kinds, trace.n_layers, trace.n_heads, tuple(METRICS), shapes)
    view, problems = view_of(texts, bounds, start)
    frame.say(*persistent.of_link(problems))
    st.session_state[_SHOWN] = view.to_params()
    return view


def adopt() -> None:
    """Take over what was chosen in the component: it becomes the address."""
    chosen = (st.session_state.get(COMPONENT) or {}).get("view")
    if not chosen:
        return
    known = {name: value for name, value in chosen.items() if name in FIELDS}
    known["pins"] = tuple(tuple(pin) for pin in known.get("pins", ()))
    known["zoom"] = tuple(known.get("zoom") or ()) or None
    shown = st.session_state.get(_SHOWN, {})
    news = {name: text for name, text in View(**known).to_params().items() if text != shown.get(name)}
    persistent.write(news)
    st.session_state[_SHOWN] = shown | news
