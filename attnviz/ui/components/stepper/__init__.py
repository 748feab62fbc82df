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


def stepper(
    payload: bytes,
    *,
    key: str = "stepper",
    on_change: Callable[[], None] | None = None,
    on_open: Callable[[], None] | None = None,
) -> dict[str, Any] | None:
    """Draw `payload` and return what is in view (step, layer, head), or None while nothing has been chosen yet.

    Args:
        payload: bytes of `attnviz.views.stepper_payload.stepper_payload`.
        key: under this key the choice is in ``st.session_state`` too: ``st.session_state[key]["view"]``.
        on_change: called before the run that follows a choice.
        on_open: called before the run that follows a press of "Open in Heads".
    """
    result = _component()(
        key=key, data=payload, on_view_change=on_change or _nothing, on_open_change=on_open or _nothing
    )
    return result.get("view")


def _nothing() -> None:
    """A component's state is kept only where somebody listens to it."""


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
