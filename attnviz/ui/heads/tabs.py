"""The tabs of the Heads page: their names, and the row that they are chosen from. Only the open one is computed."""

from collections.abc import Mapping

import streamlit as st

from attnviz.models.catalogue import Entry
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import segments
from attnviz.ui.cache import traces
from attnviz.views.terms import term

TABS = {
    "heads": "Heads", "links": "Links", "model": "Whole model", "row": "One row", "neuron": "Neuron",
    "alignment": "Alignment", "flow": "Flow", "spans": "Spans",
}  # fmt: skip
PARTS = "parts-slot"  # in the session: the place beside the tabs for what one of them adds


def bar(entry: Entry) -> Mapping[str, str]:
    """Draw the row of tabs; return the texts that the address holds for the page. Spans needs a decoder's text: it is
    offered if the model has a decoder, or if a link asks for the tab.

    It is rendered before the model runs, so that the browser paints it meanwhile.
    """
    texts = persistent.texts()
    shown = texts["tab"] if texts["tab"] in TABS else "heads"
    has_spans = shown == "spans" or not traces.inputs(entry).is_pair
    offered = {name: title for name, title in TABS.items() if name != "spans" or has_spans}
    segments("tab", "View", offered, shown, hide_label=True)
    st.html(f"<div class='views'>{term('Views')}</div>", width="content")
    st.session_state[PARTS] = st.container(key="parts", width="content")
    return texts


def needs_whole_trace(texts: Mapping[str, str]) -> bool:
    """Check whether the picture that texts ask for needs logits and hidden states."""
    if texts["tab"] == "spans":
        return texts["hidden"] != "" or texts["shares"] not in ("", "weight")
    return texts["tab"] in ("alignment", "flow") or texts["cells"] not in ("", "weight")
