"""The Heads component: everything on the Heads page below the top bar, drawn in the browser from data it already has.

The page hands it the bytes of `attnviz.views.heads_payload`, and hears a moment after each choice what is in view. The
script and the styles lie beside this file in small pieces that are joined in the order below; there is no build step.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from attnviz.views.binary import packed, unpacked

_HERE = Path(__file__).parent
SCRIPTS = (
    "payload", "maps", "theme", "elements", "choice", "strip", "overview_layout", "overview", "pens", "geometry",
    "tile", "focus", "overlay", "pointer", "bars", "controls", "pins", "exports", "keys", "shell", "main",
)  # fmt: skip
STYLES = ("frame", "controls", "overview", "focus")
_HTML = '<div class="avz" lang="und"></div>'


def heads(payload: bytes, *, key: str = "heads", on_change: Callable[[], None] | None = None) -> dict[str, Any] | None:
    """Draw `payload` and return what the visitor has in view, or None while nothing has been chosen yet.

    Args:
        payload: bytes of `attnviz.views.heads_payload.heads_payload`.
        key: under this key the choice is in ``st.session_state`` too: ``st.session_state[key]["view"]``.
        on_change: called before the run that follows a choice.
    """
    result = _component()(key=key, data=_unless_drawn(payload, key), on_view_change=on_change or _nothing)
    return result.get("view")


def _unless_drawn(payload: bytes, key: str) -> bytes:
    """The bytes sent last, where the browser holds all that `payload` says; else `payload`.

    After each choice of the visitor only the view in the header differs, and that the browser knows already: the same
    bytes again cost nothing, where a long text's maps are megabytes. The header's view carries the number of the newest
    choice that this run has heard of, so that the browser can tell an answer from something older.
    """
    reported = (st.session_state.get(key) or {}).get("view")
    memory = f"_attnviz_{key}_drawn"
    drawn = st.session_state.get(memory)
    header, blobs = unpacked(payload)
    view, seq = _without_seq(header["view"]), (reported or {}).get("seq", 0)
    if reported and drawn and drawn["id"] == header["id"]:
        held = _without_seq(reported) if seq > drawn["seq"] else drawn["view"]
        if all(name in held and held[name] == value for name, value in view.items()):
            drawn.update(view=held, seq=seq)
            return drawn["payload"]
    payload = packed({**header, "view": {**view, "seq": seq}}, bytes(blobs))
    st.session_state[memory] = {"id": header["id"], "view": view, "seq": seq, "payload": payload}
    return payload


def _without_seq(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name != "seq"}


def _nothing() -> None:
    """A component's state is kept only where somebody listens to it."""


@cache
def _component() -> Callable[..., Any]:
    return component("attnviz_heads", html=_HTML, css=_joined("css", STYLES), js=_joined("js", SCRIPTS))


def _joined(kind: str, names: tuple[str, ...]) -> str:
    return "\n".join((_HERE / kind / f"{name}.{kind}").read_text(encoding="utf-8") for name in names) + "\n"
