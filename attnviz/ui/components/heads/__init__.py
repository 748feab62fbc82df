"""The Heads component: everything on the Heads page below the top bar, drawn in the browser from data it already has.

The page hands it the bytes of `attnviz.views.heads_payload`, and hears a moment after each choice what is in view.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.ui.address import persistent
from attnviz.ui.components import pieces
from attnviz.ui.components.drawn import unless_drawn
from attnviz.views.heads_constants import constants_script

_HERE = Path(__file__).parent
SCRIPTS = (
    "payload", "maps", "choice", "subject", "strip", "overview_layout", "overview", "geometry", "tile", "labels",
    "focus", "overlay", "zoom", "pointer", "bars", "controls", "pins", "exports", "keys", "help", "focus_pane", "shell",
    "main",
)  # fmt: skip


def heads(payload: bytes, *, key: str = "heads", on_change: Callable[[], None] | None = None) -> dict[str, Any] | None:
    """Draw `payload` and return what the visitor has in view, or None while nothing has been chosen yet.

    Args:
        payload: bytes of `attnviz.views.heads_payload.heads_payload`.
        key: under this key the choice is in ``st.session_state`` too: ``st.session_state[key]["view"]``.
        on_change: called before the run that follows a choice.
    """
    result = _component()(key=key, data=unless_drawn(payload, key), on_view_change=on_change or _nothing)
    persistent.catch_up(key, on_change or _nothing)
    return result.get("view")


def _nothing() -> None:
    """A component's state is kept only where somebody listens to it."""


@cache
def _component() -> Callable[..., Any]:
    return pieces.made(_HERE, css=[(_HERE, ("overview", "focus"))], js=[(_HERE, SCRIPTS)], first=constants_script())
