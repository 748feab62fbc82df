"""Constants of the Heads component, which are sent once with the script instead of in every payload."""

import base64
from typing import Any

import numpy as np

from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS

_SCALES = {
    "light": (colour.SEQUENTIAL_LIGHT, colour.DIVERGING_LIGHT),
    "dark": (colour.SEQUENTIAL_DARK, colour.DIVERGING_DARK),
}


def _words(kind: str) -> dict[str, str]:
    words = KINDS[kind]
    return {
        "tab": words.tab,
        "title": words.name,
        "question": words.question,
        "query_axis": f"query ↓ ({words.query})",
        "key_axis": f"key → ({words.key})",
    }


def _scales(theme: str) -> dict[str, Any]:
    sequential, diverging = (base64.b64encode(np.asarray(scale, np.uint8).tobytes()) for scale in _SCALES[theme])
    return {"sequential": sequential.decode(), "diverging": diverging.decode()}


CONSTANTS = {"kinds": {kind: _words(kind) for kind in KINDS}, "scales": {name: _scales(name) for name in _SCALES}}
"""The words of each kind, and the four colour scales as base64 of 256 RGB bytes."""
