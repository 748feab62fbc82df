"""The mask laboratory's component: scores, masked scores, weights and context of one head, linked, and a mask to paint.

The page hands it the bytes of `attnviz.views.mask_payload`, and hears of each edit. Script and styles lie beside this
file in small pieces, joined in the order below; the pieces that every picture needs are those of the Heads component.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

_HERE = Path(__file__).parent
_SHARED = _HERE.parent / "heads" / "js"
SHARED = ("elements", "theme", "pens")
SCRIPTS = (
    "payload",
    "paint",
    "preview",
    "zoom",
    "layout",
    "panels",
    "draw",
    "numbers",
    "pointer",
    "keys",
    "exports",
    "shell",
    "main",
)
_HTML = '<div class="lab" lang="und"></div>'


def mask_lab(payload: bytes, *, key: str = "mask-lab", on_change: Callable[[], None]) -> None:
    """Draw `payload`. After an edit `on_change` runs; `st.session_state[key]["edit"]` then holds what was made.

    `paint` is the painted mask as text, `row` the pinned row or None, `zoom` the window as text, `seq` counts edits,
    and `bake` asks for the rules to be given up, because the paint now says all that they said.
    """
    _component()(key=key, data=payload, on_edit_change=on_change)


@cache
def _component() -> Callable[..., Any]:
    pieces = [*(_SHARED / f"{name}.js" for name in SHARED), *(_HERE / "js" / f"{name}.js" for name in SCRIPTS)]
    script = "\n".join(piece.read_text(encoding="utf-8") for piece in pieces) + "\n"
    style = (_HERE / "css" / "lab.css").read_text(encoding="utf-8")
    return component("attnviz_mask_lab", html=_HTML, css=style, js=script)
