"""Functions of higher layers that a lower layer calls by name, such as the one behind `trace.metrics()`.

A lower layer must not import a file above it. It calls `door(name)` instead, which imports the function when it is
called. `attnviz/__init__.py` lists where each function is.
"""

from importlib import import_module
from typing import Any

HOMES: dict[str, str] = {}  # the name of a door -> the module that has a function of that name


def door(name: str) -> Any:
    """Import and return the function with this name from the higher layer that implements it."""
    return getattr(import_module(HOMES[name]), name)
