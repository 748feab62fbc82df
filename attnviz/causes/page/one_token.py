"""A selection box for one token of the vocabulary: a probable one, or any other that the visitor types."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.app.address import persistent, widgets
from attnviz.kit.glossary import definition


def token_list(name: str, label: str, options: Sequence[str], value: str, names: dict[str, str]) -> None:
    """Draw a selection box of tokens, given as `#id` with a name for each.

    A text that the visitor types instead is written into the address unchanged.
    """
    listed = list(dict.fromkeys((*options, value)))

    def title(option: str) -> str:
        return names.get(option, option)

    def draw(**more: Any) -> Any:
        return st.selectbox(
            label,
            listed,
            format_func=title,
            accept_new_options=True,
            help=definition(label),
            **more,
        )

    key = f"pick-{name}"
    start = {"index": listed.index(value)}
    widgets.show(key, value, start, draw, lambda: persistent.write({name: st.session_state[key]}), title(value))
