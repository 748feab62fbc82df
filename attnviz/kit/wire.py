"""The wire format for a widget's data: a JSON header, and typed arrays as bytes that a browser reads without copying.

The layout is a little-endian `u32` with the length of the header, the header as UTF-8 JSON, zero padding to a multiple
of four, and the blob area. Offsets in the header are relative to the blob area and are multiples of four.
"""

import hashlib
import json
import struct
from typing import Any, NamedTuple

import numpy as np


class Payload(NamedTuple):
    """A widget's data: `header["id"]` identifies the picture, and `header["view"]` is the visitor's choice in it."""

    header: dict[str, Any]
    blobs: bytes

    def with_view(self, view: dict[str, Any]) -> "Payload":
        """Return a payload with the same data and another view."""
        return self._replace(header={**self.header, "view": view})

    def pack(self) -> bytes:
        """Encode the payload as bytes; the inverse of `unpack`."""
        # Lone surrogates cannot be encoded as UTF-8, so they stay escaped.
        text = json.dumps(self.header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        encoded = text.encode("utf-8", "backslashreplace")
        return struct.pack("<I", len(encoded)) + encoded + bytes(-(4 + len(encoded)) % 4) + self.blobs

    def adding(self, **parts: Any) -> "Payload":
        """Return the payload with more parts in its header, and with an id that changes with them."""
        told = f"{self.header['id']}{parts!r}".encode("utf-8", "surrogatepass")
        name = hashlib.blake2b(told, digest_size=8).hexdigest()
        return self._replace(header={**self.header, **parts, "id": name})


def unpack(packed: bytes) -> Payload:
    """Decode the bytes of `Payload.pack`."""
    (length,) = struct.unpack_from("<I", packed)
    start = 4 + length + (-(4 + length)) % 4
    return Payload(json.loads(packed[4 : 4 + length]), packed[start:])


class Blobs:
    """The blob area while it is built.

    Every array starts at a multiple of four, as typed arrays in the browser require.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0
        self._content = hashlib.blake2b(digest_size=8)

    def add(self, array: np.ndarray) -> int:
        """Append an array in C order, and return its offset."""
        offset, piece = self._length, array.tobytes()
        self._pieces += [piece, bytes(-len(piece) % 4)]
        self._content.update(piece)
        self._length += len(piece) + -len(piece) % 4
        return offset

    def digest(self, header: dict[str, Any]) -> str:
        """Return a short hash of `header` and all blobs so far."""
        content = self._content.copy()
        content.update(json.dumps(header, sort_keys=True).encode())
        return content.hexdigest()

    def join(self) -> bytes:
        """Return the blob area."""
        return b"".join(self._pieces)
