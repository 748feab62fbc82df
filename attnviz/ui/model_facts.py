"""Facts of the model in the top bar: a button beside its name opens them, Esc closes them."""

import streamlit as st

from attnviz.models.catalogue import Entry
from attnviz.ui.cache import traces
from attnviz.ui.markdown import literal

_WORDS = "Hello."  # any text would do: sizes and scales are the same for all


def button() -> bool:
    """Draw the button; return whether it was pressed."""
    return st.button("About this model", key="model-facts")


def show(entry: Entry) -> None:
    """Open the facts of a model."""
    st.dialog(literal(entry.title), width="large", icon=":material/info:")(_draw)(entry)


def _draw(entry: Entry) -> None:
    from attnviz.views.site.model_facts import facts_html

    try:
        loaded = traces.model(entry.name)
        found = _html(loaded.model_id, entry.name, loaded, facts_html)
    except ValueError as refusal:
        st.error(literal(str(refusal)), icon=":material/error:")
        return
    st.html(f"<div class='model-facts'>{found}</div>")


@st.cache_data(max_entries=64, show_spinner="Loading the model …")
def _html(weights: str, name: str, _model, _drawn) -> str:
    from attnviz.models.facts import sections

    to = _model.languages[0] if _model.languages else ""
    return _drawn(sections(_model, traces.run(_model, _WORDS, to=to)))
