"""The Neuron component: one query and one key of a head, number by number, down to their weight."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.ui.components import tabs

_HERE = Path(__file__).parent
SCRIPTS = ("sums", "lists", "cells", "steps", "figure", "shell")


def neuron(payload: bytes, *, key: str = "neuron", on_change: Callable[[], None]) -> None:
    """Draw `payload`, the bytes of `attnviz.views.neuron_payload.neuron_payload`; `on_change` hears of each choice."""
    tabs.drawn(_component(), payload, key=key, on_change=on_change)


@cache
def _component() -> Callable[..., Any]:
    return tabs.made(_HERE, SCRIPTS, ("neuron",))
