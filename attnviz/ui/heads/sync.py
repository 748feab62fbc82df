"""The Heads page's view as the address asks for it, and as the visitor changes it."""

from collections.abc import Mapping

import streamlit as st

from attnviz.analysis.heads.metric_table import METRICS
from attnviz.models.catalogue import Entry
from attnviz.ui import layout
from attnviz.ui.address import persistent
from attnviz.ui.address.fields import SiteBounds
from attnviz.ui.heads.state import HeadsState, view_of
from attnviz.ui.reported import OPTIONAL_NUMBER, SITE, SWITCH, TEXT, reported

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


def current(texts: Mapping[str, str], trace, entry: Entry) -> HeadsState:
    """The view that the address's texts ask for; what they ask wrongly is said above the picture."""
    start = HeadsState(**entry.start)
    view, problems = view_of(texts, SiteBounds.of(trace), METRICS, start)
    layout.note(*persistent.of_link(problems))
    st.session_state[_SHOWN] = view.to_params()
    return view


def adopt() -> None:
    """Take over what was chosen in the component: it becomes the address."""
    known = reported(COMPONENT, "view", TOLD)
    if known is None or not all(isinstance(pin, list) for pin in known["pins"]):
        return
    known["pins"] = tuple(tuple(pin) for pin in known["pins"])
    known["zoom"] = tuple(known["zoom"] or ()) or None
    shown = st.session_state.get(_SHOWN, {})
    news = {name: text for name, text in HeadsState(**known).to_params().items() if text != shown.get(name)}
    persistent.write(news)
    st.session_state[_SHOWN] = shown | news
