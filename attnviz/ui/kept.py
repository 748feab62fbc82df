"""Texts of the top bar that stay in force when the page changes, and stand in the address."""

from typing import Any

import streamlit as st

# Bound alone, a value is lost where a link to a page has a query.
KEPT: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
_TEXTS = "kept-texts"


def text(key: str, label: str, **options: Any) -> str:
    """A text input under `key`; what stands in it is remembered for `hand_over`."""
    typed = st.text_input(label, key=key, **KEPT, **options) or ""
    texts = st.session_state.setdefault(_TEXTS, {})
    texts[key] = "" if typed == options.get("value") else typed  # a default stands in no address
    return typed


def hand_over(page: str) -> None:
    """Call before any `text` of a page: on the first run of another page, what stood in them is set again.

    Streamlit does so itself from the second change of page on; at the first one it forgets what only a link has said.
    """
    changed = st.session_state.get("page", page) != page
    st.session_state["page"] = page
    lost = {
        key: typed for key, typed in st.session_state.get(_TEXTS, {}).items() if typed and key not in st.query_params
    }
    if changed and lost:
        for key, typed in lost.items():
            st.session_state[key] = typed
        st.query_params.update(lost)  # at once: each call of its own would be a step of the Back button
