"""The wire format for a widget's data: a JSON header, and typed arrays as bytes that a browser reads without copying.

The layout is a little-endian `u32` with the length of the header, the header as UTF-8 JSON, zero padding to a multiple
of four, and the blob area. Offsets in the header are relative to the blob area and are multiples of four.
"""

import hashlib
import json
import struct
from collections.abc import Iterable
from io import BytesIO
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
        return self.pack_header() + self.blobs

    def pack_header(self) -> bytes:
        """Encode the payload without its blob area, which follows these bytes in `pack`."""
        # Lone surrogates cannot be encoded as UTF-8, so they stay escaped.
        text = json.dumps(self.header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        encoded = text.encode("utf-8", "backslashreplace")
        return struct.pack("<I", len(encoded)) + encoded + bytes(-(4 + len(encoded)) % 4)

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

    Every array starts at a multiple of four, as typed arrays in the browser require. The area is in memory once: `join`
    copies nothing.
    """

    def __init__(self) -> None:
        self._area = BytesIO()
        self._content = hashlib.blake2b(digest_size=8)
        self._hashed = 0  # bytes of the area that are in `_content`

    def add(self, array: np.ndarray) -> int:
        """Append an array in C order, and return its offset."""
        offset = self._area.tell()
        self._area.write(np.ascontiguousarray(array).data)
        self._area.write(bytes(-self._area.tell() % 4))
        return offset

    def add_parts(self, parts: Iterable[np.ndarray], size: int) -> int:
        """Append the parts of one array of `size` bytes, a multiple of four, as they are made; return its offset.

        If making a part raises an error, nothing is appended. Raises ValueError for parts of another size in all.
        """
        offset = self._area.tell()
        if size:  # take the memory at once, because growing part by part may copy the area
            self._area.seek(offset + size - 1)
            self._area.write(b"\0")
            self._area.seek(offset)
        try:
            for part in parts:
                self._area.write(np.ascontiguousarray(part).data)
            if self._area.tell() != offset + size:
                raise ValueError(f"The parts of an array have {self._area.tell() - offset} bytes, not {size}.")
        except BaseException:
            self._area.seek(offset)
            self._area.truncate()
            raise
        return offset

    def digest(self, header: dict[str, Any]) -> str:
        """Return a short hash of `header` and all blobs so far."""
        with self._area.getbuffer() as area:
            self._content.update(area[self._hashed :])
        self._hashed = self._area.tell()
        content = self._content.copy()
        content.update(json.dumps(header, sort_keys=True).encode())
        return content.hexdigest()

    def join(self) -> bytes:
        """Return the blob area."""
        return self._area.getvalue()
