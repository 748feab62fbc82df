"""A painted mask as a short text for links.

The bytes are the number of rows, the number of columns, and then the lengths of runs row by row, alternating between
visible and hidden, visible first. Each number is a little-endian base-128 varint, and all bytes are base64url without
padding. A mask that hides nothing is "". `attnviz/masks/js/paint.js` uses the same format.
"""

import base64
import binascii
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool

MAX_SIDE = 2048  # longer than any accepted text


class PaintingError(ValueError):
    """Error for a text that is not a painted mask; the message is one sentence."""


def painting_to_text(painted: Bool[np.ndarray, "rows cols"]) -> str:
    """Return a mask (True = may attend) as text."""
    if painted.all():
        return ""
    flat = painted.reshape(-1)
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    runs = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    numbers = [*painted.shape, *([0] if not flat[0] else []), *runs]
    return base64.urlsafe_b64encode(b"".join(map(_varint, numbers))).decode().rstrip("=")


def painting_of_text(text: str) -> Bool[np.ndarray, "rows cols"] | None:
    """Parse what `painting_to_text` wrote; return None for "". Raise PaintingError for any other text."""
    if not text:
        return None
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        rows, cols, *runs = _numbers(data)
    except (ValueError, binascii.Error):
        raise PaintingError(_unreadable_error(text)) from None
    if not (0 < rows <= MAX_SIDE and 0 < cols <= MAX_SIDE) or sum(runs) != rows * cols:
        raise PaintingError(_unreadable_error(text))
    visible = np.arange(len(runs)) % 2 == 0
    return np.repeat(visible, runs).reshape(rows, cols)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _numbers(data: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if shift > 28:
            raise ValueError("a number is too long")
        if byte < 128:
            yield number
            number = shift = 0
    if shift:
        raise ValueError("the last number has no end")


def _unreadable_error(text: str) -> str:
    return f"The link's painted mask “{text[:20]}…” cannot be read: it was cut or changed. Nothing is painted."
