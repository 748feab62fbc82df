"""The Whole model component: every head of every layer at once, small, as a map or as lines; a click opens it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.ui.components import tabs

_HERE = Path(__file__).parent
SCRIPTS = ("layout", "miniatures", "grid", "figure", "shell")


def whole_model(payload: bytes, *, key: str = "whole_model", on_change: Callable[[], None]) -> None:
    """Draw `payload`, the bytes of `attnviz.views.whole_model_payload`; `on_change` hears of each choice."""
    tabs.drawn(_component(), payload, key=key, on_change=on_change)


@cache
def _component() -> Callable[..., Any]:
    return tabs.made(_HERE, SCRIPTS, ("whole_model",))
