"""The tabs of the Heads page: the row that they are chosen from. Only the open one is computed."""

from collections.abc import Mapping

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments
from attnviz.app.cache import traces
from attnviz.app.markdown import literal
from attnviz.hosts import registry
from attnviz.kit.views.terms import term
from attnviz.models.catalogue import Entry

PARTS = "parts-slot"  # in the session: the place beside the tabs for what one of them adds
_PAGE = "Heads"


def titles() -> Mapping[str, str]:
    """Return the title of each tab, by the name of the tab in addresses."""
    return {tab: picture.title for tab, picture in registry.tabs(_PAGE).items()}


def bar(entry: Entry) -> Mapping[str, str]:
    """Draw the row of tabs; return the texts that the address holds for the page. A picture that needs a decoder is
    offered if the model has a decoder, or if a link asks for the tab.

    It is rendered before the model runs, so that the browser paints it meanwhile.
    """
    texts = persistent.texts()
    shown = open_tab(texts)
    is_pair = traces.inputs(entry).is_pair
    offered = {
        tab: literal(picture.title)
        for tab, picture in registry.tabs(_PAGE).items()
        if tab == shown or not (picture.needs_decoder and is_pair)
    }
    segments("tab", "View", offered, shown, hide_label=True)
    st.html(f"<div class='views'>{term('Views')}</div>", width="content")
    st.session_state[PARTS] = st.container(key="parts", width="content")
    return texts


def open_tab(texts: Mapping[str, str]) -> str:
    """Return the tab that texts ask for; Heads for a tab that does not exist."""
    return texts["tab"] if texts["tab"] in registry.tabs(_PAGE) else "heads"


def needs_whole_trace(texts: Mapping[str, str]) -> bool:
    """Check whether the picture that texts ask for needs logits and hidden states."""
    return registry.tabs(_PAGE)[open_tab(texts)].needs_whole_trace(texts)
