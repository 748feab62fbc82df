"""Texts and numbers of the top bar that stay in force when the page changes, and stand in the address."""

from typing import Any

import streamlit as st
from streamlit.runtime.state import get_session_state

# Bound alone, a value is lost where a link to a page has a query.
KEPT: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
_TEXTS = "kept-texts"


def text(key: str, label: str, **options: Any) -> str:
    """A text input under `key`; what stands in it is remembered for `hand_over`."""
    typed = st.text_input(label, key=key, **KEPT, **options) or ""
    texts = st.session_state.setdefault(_TEXTS, {})
    texts[key] = "" if typed == options.get("value") else typed  # a default stands in no address
    return typed


def number(key: str, label: str, *, low: int, high: int, value: int, **options: Any) -> int:
    """A number input under `key`, remembered as a text is."""
    chosen = st.number_input(label, low, high, value=value, key=key, **KEPT, **options)
    st.session_state.setdefault(_TEXTS, {})[key] = "" if chosen == value else chosen
    return int(chosen)


def shown(key: str) -> str:
    """The key of the field that a visitor sees and types into, where the one that the address follows is not seen."""
    return f"{key}-shown"


def hand_over(page: str) -> None:
    """Call before any `text` or `number` of a page: on the first run of another page, what stood in them is set again.

    Streamlit does so itself from the second change of page on; at the first one it forgets what only a link has said.
    """
    changed = st.session_state.get("page", page) != page
    st.session_state["page"] = page
    for key in st.session_state.get(_TEXTS, {}) if changed else ():
        st.session_state.pop(shown(key), None)  # another page's field is another field, and empty until it is set
    lost = {
        key: typed
        for key, typed in st.session_state.get(_TEXTS, {}).items()
        if typed != "" and key not in st.query_params
    }
    if changed and lost:
        for key, typed in lost.items():
            st.session_state[key] = typed
        # At once: each call of its own would be a step of the Back button.
        st.query_params.update({key: str(typed) for key, typed in lost.items()})


def clear(key: str) -> None:
    """Empty a text because another one changes: both are one step of the Back button, and the other one makes it."""
    st.session_state[key] = ""
    with get_session_state().query_params() as address:
        if key in address.to_dict():
            address.discard_param_no_forward_msg(key)
