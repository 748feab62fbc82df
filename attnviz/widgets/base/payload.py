"""What the components of the Heads page's other tabs are told alike: the kind, its words, the kinds to choose from."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.views import colour
from attnviz.views.labels import KINDS
from attnviz.widgets.wire import Blobs, Payload

_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


def common_header(kind: str, kinds: Sequence[str], blobs: Blobs) -> dict[str, Any]:
    """The beginning of a header: the kind that is open, in words, all kinds as `[kind, title]`, the colour scales."""
    words = KINDS[kind]
    return {
        "kind": kind,
        "kinds": [[name, KINDS[name].name.removesuffix("-attention")] for name in kinds],
        "title": words.name,
        "question": words.question,
        "query_name": words.query,
        "key_name": words.key,
        "colour": {name.lower(): blobs.add(_scale(name)) for name in _SCALES},
    }


def payload_of(header: dict[str, Any], view: dict[str, Any], blobs: Blobs) -> Payload:
    """The payload: what is drawn has a name, so that equal bytes are recognised; the view is beside it."""
    name = blobs.digest(header)
    return Payload({**header, "base": name, "id": name, "view": view}, blobs.joined())


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)
