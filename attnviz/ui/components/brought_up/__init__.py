"""Brings into view what a click has opened below the picture: else the click would seem to have done nothing."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

_HERE = Path(__file__).parent


def brought_up(key: str, *, is_open: bool) -> None:
    """Scroll to the container whose key is `key` when it has just been opened; a link that opens it scrolls nowhere.

    Called in every run, before the container is drawn.
    """
    memory = f"_attnviz_opened_{key}"
    was_open, times = st.session_state.get(memory, (is_open, 0))
    times += is_open and not was_open
    st.session_state[memory] = is_open, times
    _component()(key=f"{key}-brought-up", data={"target": key, "times": int(times)})


@cache
def _component() -> Callable[..., Any]:
    return component("attnviz_brought_up", html="<div></div>", js=(_HERE / "brought_up.js").read_text(encoding="utf-8"))
