"""The mask laboratory's component: scores, masked scores, weights and context of one head, linked, and a mask to paint.

The page hands it the bytes of `attnviz.views.mask_payload`, and hears of each edit. It has a look and a
way to tell of edits of its own, and takes the shared tools, colours and buttons.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from attnviz.text.glossary import MASKS
from attnviz.ui.address import persistent
from attnviz.ui.components import pieces

_HERE = Path(__file__).parent
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
_HTML = '<div class="lab" lang="und" tabindex="-1"></div>'


def mask_lab(payload: bytes, *, key: str = "mask-lab", on_change: Callable[[], None]) -> None:
    """Draw `payload`. After an edit `on_change` runs; `st.session_state[key]["edit"]` then holds what was made.

    `paint` is the painted mask as text, `row` the pinned row or None, `zoom` the window as text, `seq` counts edits,
    and `bake` asks for the rules to be given up, because the paint now says all that they said.
    """
    _component()(key=key, data=payload, on_edit_change=on_change)
    persistent.catch_up(key, on_change)


@cache
def _component() -> Callable[..., Any]:
    script = pieces.glossary_script(MASKS) + pieces.joined(
        "js", (pieces.SHARED, (*pieces.TOOLS, "mounted")), (_HERE, SCRIPTS)
    )
    look = pieces.joined("css", (pieces.SHARED, ("buttons",)), (_HERE, ("lab",)))
    return component("attnviz_mask_lab", html=_HTML, css=look, js=script)
