"""Methods of lower layers whose work a higher layer does: `attnviz/__init__.py` says which function does which.

A lower layer names no file above it; it asks for a door, and only then is what lies behind it imported.
"""

from importlib import import_module
from typing import Any

HOMES: dict[str, str] = {}  # the name of a door -> the module that has a function of that name


def door(name: str) -> Any:
    """Return the function behind a door."""
    return getattr(import_module(HOMES[name]), name)
