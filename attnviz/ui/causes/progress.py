"""Long work on this page: how far it is, and a button that stops it. What else is chosen meanwhile stops it too."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from attnviz.text.glossary import definition
from attnviz.ui import layout

Tell = Callable[[int, int], None]
Made = TypeVar("Made")
_STOPPED = "causes-stopped"


def run_cancellable(key: str, asked: object, doing: str, make: Callable[[Tell], Made]) -> Made | None:
    """Run `make`, which tells how many runs are done and of how many; None where the visitor stopped it.

    `key` names the work, `asked` is its subject: about another one it begins again. `doing` is said beside the count.
    Work of one pass alone draws nothing.
    """
    if st.session_state.get(_STOPPED) == (key, asked):
        layout.note(f"{doing} was stopped.")
        st.button("Go on", key=f"{key}-again", on_click=_remember, args=(None,), help=definition("Go on"))
        return None
    place = st.empty()
    bars = []

    def tell(done: int, total: int) -> None:
        if not bars and done < total:
            with place.container(horizontal=True, vertical_alignment="center", key=f"{key}-progress"):
                bars.append(st.empty())
                st.button("Stop", key=f"{key}-stop", on_click=_remember, args=((key, asked),), help=definition("Stop"))
        for bar in bars:
            bar.progress(done / total, text=f"{doing}: {done} of {total} runs")

    try:
        return make(tell)
    finally:
        place.empty()


def forget(key: str) -> None:
    """Let the work of that name begin again where it was stopped."""
    if st.session_state.get(_STOPPED, ("",))[0] == key:
        _remember(None)


def _remember(stopped: tuple[str, object] | None) -> None:
    st.session_state[_STOPPED] = stopped
