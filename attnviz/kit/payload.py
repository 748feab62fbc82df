"""The part of a payload header that the tabs of the page Heads share: the open kind, its words, and all kinds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload

_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


def common_header(kind: str, kinds: Sequence[str], blobs: Blobs) -> dict[str, Any]:
    """Return the start of a header: the open kind in words, all kinds as `[kind, title]`, and the colour scales."""
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
    """Make a payload from a header, blobs and a view.

    Its id is a hash of header and blobs, so that the browser recognises equal data.
    """
    name = blobs.digest(header)
    return Payload({**header, "base": name, "id": name, "view": view}, blobs.join())


def data_payload(kind: str, kinds: Sequence[str], data: Mapping[str, Any]) -> Payload:
    """Make a payload of named values, in the form that `drawn_picture.js` reads.

    Arrays are sent as float32, boolean arrays as bytes. Raise TypeError for a value that is neither an array nor valid
    in JSON.
    """
    blobs, plain, arrays = Blobs(), {}, {}
    header = common_header(kind, kinds, blobs)
    for name, value in data.items():
        if not hasattr(value, "__array__"):
            plain[name] = value
            continue
        array = np.asarray(value)
        array = array.astype(np.uint8 if array.dtype == bool else np.float32)
        arrays[name] = {"offset": blobs.add(array), "shape": list(array.shape), "bytes": array.itemsize}
    return payload_of({**header, "data": plain, "arrays": arrays}, {}, blobs)


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)
