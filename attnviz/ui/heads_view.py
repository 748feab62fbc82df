"""The Heads page's view as the address asks for it, and as the visitor changes it."""

from collections.abc import Mapping

import streamlit as st

from attnviz.analysis.metrics import METRICS
from attnviz.models.catalogue import Entry
from attnviz.ui import frame
from attnviz.ui.address import persistent
from attnviz.ui.components.told import OPTIONAL_NUMBER, SITE, SWITCH, TEXT, told
from attnviz.ui.heads_link import Bounds, View, view_of

COMPONENT = "heads"
TOLD = {
    **dict.fromkeys(("kind", "sort", "tint", "specials", "scale", "compare", "bars"), TEXT),
    **dict.fromkeys(("words", "mask", "sink", "plotly", "table"), SWITCH),
    "layer": SITE,
    "head": SITE,
    "row": OPTIONAL_NUMBER,
    "pins": list,
    "zoom": (list, type(None)),
}
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
    known = told(COMPONENT, "view", TOLD)
    if known is None or not all(isinstance(pin, list) for pin in known["pins"]):
        return
    known["pins"] = tuple(tuple(pin) for pin in known["pins"])
    known["zoom"] = tuple(known["zoom"] or ()) or None
    shown = st.session_state.get(_SHOWN, {})
    news = {name: text for name, text in View(**known).to_params().items() if text != shown.get(name)}
    persistent.write(news)
    st.session_state[_SHOWN] = shown | news
