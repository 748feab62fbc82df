"""The Stepper component: the training table on the left, one decoding step after another on the right.

It is drawn in the browser and holds every step's data, so that slider and play button need no round trip; Python
hears a moment after each choice.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.text.glossary import DECODING, HEADS
from attnviz.ui.address import persistent
from attnviz.ui.components import pieces
from attnviz.ui.components.drawn import unless_drawn

_HERE = Path(__file__).parent
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


def stepper(payload: bytes, *, key: str = "stepper", on_change: Callable[[], None]) -> None:
    """Draw `payload`.

    Args:
        payload: bytes of `attnviz.views.stepper_payload.stepper_payload`.
        key: under this key what is in view is in the session: ``st.session_state[key]["view"]``.
        on_change: called before the run that follows a choice of step, layer or head.
    """
    _component()(key=key, data=unless_drawn(payload, key), on_view_change=on_change)
    persistent.catch_up(key, on_change)


@cache
def _component() -> Callable[..., Any]:
    css, js = [(_HERE, ("stepper", "table"))], [(_HERE, SCRIPTS)]
    return pieces.made(_HERE, css=css, js=js, classes="stepper", words=HEADS | DECODING)
