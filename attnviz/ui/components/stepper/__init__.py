"""The Stepper component: the training table on the left, one decoding step after another on the right.

It is drawn in the browser and holds every step's data, so that slider and play button need no round trip; Python
hears a moment after each choice.
What it draws with (elements, theme, pens) are pieces of the Heads component; there is no build step.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

_HERE = Path(__file__).parent
_SHARED = _HERE.parent / "heads"
SHARED_SCRIPTS = ("theme", "elements", "pens")
SCRIPTS = (
    "payload",
    "choice",
    "training",
    "layout",
    "maps",
    "candidates",
    "pointer",
    "player",
    "exports",
    "shell",
    "main",
)
SHARED_STYLES = ("frame", "controls")
STYLES = ("stepper", "table")
_HTML = '<div class="avz stepper" lang="und"></div>'


def stepper(payload: bytes, *, key: str = "stepper", on_change: Callable[[], None]) -> None:
    """Draw `payload`.

    Args:
        payload: bytes of `attnviz.views.stepper_payload.stepper_payload`.
        key: under this key what is in view is in the session: ``st.session_state[key]["view"]``.
        on_change: called before the run that follows a choice of step, layer or head.
    """
    _component()(key=key, data=payload, on_view_change=on_change)


@cache
def _component() -> Callable[..., Any]:
    return component(
        "attnviz_stepper",
        html=_HTML,
        css=_joined("css", SHARED_STYLES, STYLES),
        js=_joined("js", SHARED_SCRIPTS, SCRIPTS),
    )


def _joined(ending: str, shared: tuple[str, ...], own: tuple[str, ...]) -> str:
    files = [_SHARED / ending / f"{name}.{ending}" for name in shared]
    files += [_HERE / ending / f"{name}.{ending}" for name in own]
    return "\n".join(file.read_text(encoding="utf-8") for file in files) + "\n"
