"""The Heads page's view in widgets that nobody sees: they keep it in the address and across pages, and Back works."""

from collections.abc import Mapping

import streamlit as st
from streamlit.runtime.state import get_session_state

from attnviz.analysis.metrics import METRICS
from attnviz.models.catalogue import Entry
from attnviz.ui import frame
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
STARTS = ("kind", "layer", "head")  # a model says where it starts: left out, they do not mean the defaults


def current(texts: Mapping[str, str], trace, entry: Entry) -> View:
    """The view that the address's texts ask for; what they ask wrongly is said above the picture."""
    start = View(**entry.start)
    shapes = {kind: trace.shape(kind) for kind in trace.kinds}
    bounds = Bounds(trace.kinds, trace.n_layers, trace.n_heads, tuple(METRICS), shapes)
    view, problems = view_of(texts, bounds, start)
    frame.say(*problems)
    return view


def adopt() -> None:
    """Take over what was chosen in the component: it becomes the address."""
    known = told(COMPONENT, "view", TOLD)
    if known is None or not all(isinstance(pin, list) for pin in known["pins"]):
        return
    known["pins"] = tuple(tuple(pin) for pin in known["pins"])
    known["zoom"] = tuple(known["zoom"] or ()) or None
    defaults = View().to_params()
    texts = {
        name: text
        for name, text in View(**known).to_params().items()
        if name in STARTS or text != (st.session_state.get(name) or defaults[name])
    }
    _announce_once(texts)
    st.session_state.update(texts)


def _announce_once(texts: dict[str, str]) -> None:
    """Let the browser hear of all texts at once: each message is an entry in its history, and Back would stop at each.

    A widget sends the whole address when the text that it is given is not there yet. All but the last find theirs.
    """
    with get_session_state().query_params() as address:
        news = [name for name, text in texts.items() if text != address.to_dict().get(name, "")]
        for name in news[:-1]:
            if texts[name]:
                address.set_with_no_forward_msg(name, texts[name])
            else:
                address.discard_param_no_forward_msg(name)
