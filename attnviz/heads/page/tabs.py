"""The row of tabs on the page Heads. Only the open tab is computed."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments
from attnviz.app.cache import traces
from attnviz.app.markdown import literal
from attnviz.hosts import registry
from attnviz.kit.views.terms import term
from attnviz.models.catalogue import Entry

_PARTS = "parts-slot"  # session key of the container for a tab's own controls
_PAGE = "Heads"


def titles() -> Mapping[str, str]:
    """Return the title of each tab, by the name of the tab in addresses."""
    return {tab: picture.title for tab, picture in registry.tabs(_PAGE).items()}


def bar(entry: Entry) -> Mapping[str, str]:
    """Draw the row of tabs; return the address parameters of the page.

    A picture that needs a decoder is offered if the model has one, and a picture of texts or of images if the model
    reads them; any is offered if a link asks for the tab. A model of images opens with Patches. The row is drawn
    before the model runs, so that the browser shows it meanwhile.
    """
    inputs = traces.inputs(entry)
    if inputs.is_image and not persistent.text("tab"):
        persistent.write({"tab": "patches"})
    texts = persistent.texts()
    shown = open_tab(texts)
    reads, has_decoder = "image" if inputs.is_image else "text", not (inputs.is_pair or inputs.is_image)
    offered = {
        tab: literal(picture.title)
        for tab, picture in registry.tabs(_PAGE).items()
        if tab == shown or (reads in picture.inputs and (has_decoder or not picture.needs_decoder))
    }
    segments("tab", "View", offered, shown, hide_label=True)
    st.html(f"<div class='views'>{term('Views')}</div>", width="content")
    st.session_state[_PARTS] = st.container(key="parts", width="content")
    return texts


def controls_of_tab() -> DeltaGenerator:
    """Return a row beside the tabs for the controls of the open tab."""
    return st.session_state[_PARTS].container(horizontal=True, vertical_alignment="center", key="part-row")


def open_tab(texts: Mapping[str, str]) -> str:
    """Return the tab that the address parameters name; "heads" if there is no such tab."""
    return texts["tab"] if texts["tab"] in registry.tabs(_PAGE) else "heads"


def needs_whole_trace(texts: Mapping[str, str]) -> bool:
    """Return whether the picture in the address needs logits and hidden states."""
    return registry.tabs(_PAGE)[open_tab(texts)].needs_whole_trace(texts)
