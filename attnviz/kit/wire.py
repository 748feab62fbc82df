"""The wire format of a widget's data: a JSON header and typed arrays as bytes, read in a browser without copying.

Layout: `u32` little-endian length of the header, the header as UTF-8 JSON, zero padding to a multiple of four, then the
blob area. Offsets in the header are relative to the blob area and are multiples of four.
"""

import hashlib
import json
import struct
from typing import Any, NamedTuple

import numpy as np


class Payload(NamedTuple):
    """The data of a widget: `header["id"]` names the picture, `header["view"]` is the visitor's choice within it."""

    header: dict[str, Any]
    blobs: bytes

    def with_view(self, view: dict[str, Any]) -> "Payload":
        """Return a payload of the same numbers with another view."""
        return self._replace(header={**self.header, "view": view})

    def pack(self) -> bytes:
        """Encode as bytes; the inverse of `unpack`."""
        # A lone surrogate cannot be encoded as UTF-8, so that everything outside ASCII that is one stays escaped.
        text = json.dumps(self.header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        encoded = text.encode("utf-8", "backslashreplace")
        return struct.pack("<I", len(encoded)) + encoded + bytes(-(4 + len(encoded)) % 4) + self.blobs


def unpack(packed: bytes) -> Payload:
    """Decode the bytes of `Payload.pack`."""
    (length,) = struct.unpack_from("<I", packed)
    start = 4 + length + (-(4 + length)) % 4
    return Payload(json.loads(packed[4 : 4 + length]), packed[start:])


class Blobs:
    """The blob area while it grows; every piece starts at a multiple of four, as typed views in the browser ask for."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def add(self, array: np.ndarray) -> int:
        """Append an array, in C order, and return its offset."""
        offset, piece = self._length, array.tobytes()
        self._pieces += [piece, bytes(-len(piece) % 4)]
        self._length += len(piece) + -len(piece) % 4
        return offset

    def digest(self, header: dict[str, Any]) -> str:
        """Hash `header` and all blobs so far into a short name: equal content has an equal name."""
        content = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=8)
        for piece in self._pieces:
            content.update(piece)
        return content.hexdigest()

    def join(self) -> bytes:
        """Return the blob area."""
        return b"".join(self._pieces)
