"""The Heads component: everything on the Heads page below the top bar, drawn in the browser from data it already has.

The page hands it the bytes of `attnviz.views.heads_payload`, and hears a moment after each choice what is in view. The
script and the styles lie beside this file in small pieces that are joined in the order below; there is no build step.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from attnviz.ui.components.drawn import joined, unless_drawn
from attnviz.views.heads_constants import constants_script

_HERE = Path(__file__).parent
SCRIPTS = (
    "payload", "maps", "theme", "elements", "choice", "subject", "strip", "overview_layout", "overview", "pens",
    "svg_pen", "geometry", "tile", "focus", "overlay", "zoom", "pointer", "bars", "controls", "pins", "exports", "keys",
    "focus_pane", "shell", "main",
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
    result = _component()(key=key, data=unless_drawn(payload, key), on_view_change=on_change or _nothing)
    return result.get("view")


def _nothing() -> None:
    """A component's state is kept only where somebody listens to it."""


@cache
def _component() -> Callable[..., Any]:
    css, js = joined("css", (_HERE, STYLES)), constants_script() + joined("js", (_HERE, SCRIPTS))
    return component("attnviz_heads", html=_HTML, css=css, js=js)
