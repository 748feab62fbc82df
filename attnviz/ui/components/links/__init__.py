"""The Links component: two sentences as columns, and lines between their tokens for the heads that are chosen."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.ui.components import tabs

_HERE = Path(__file__).parent
SCRIPTS = ("lines", "squares", "columns", "strokes", "held", "figure", "shell")


def links(payload: bytes, *, key: str = "links", on_change: Callable[[], None]) -> None:
    """Draw `payload`, the bytes of `attnviz.views.links_payload.links_payload`; `on_change` hears of each choice."""
    tabs.drawn(_component(), payload, key=key, on_change=on_change)


@cache
def _component() -> Callable[..., Any]:
    return tabs.made(_HERE, SCRIPTS, ("links",))
