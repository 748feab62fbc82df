"""Messages from a browser as they come over the wire: how much they hold, counted before anything is allocated for it.

A state of no content takes two bytes in a message and fifty in memory, and a megabyte of them a kilobyte when deflated.
"""

from collections.abc import Mapping
from functools import cache

from google.protobuf.descriptor import Descriptor

from attnviz.ui.streamlit_internals import BACK_MESSAGE

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5  # protobuf's wire types, but for groups, which nobody sends


def count_fields(frame: bytes, most: int) -> int:
    """Count the fields of a message and of the messages in it; stop at `most` + 1.

    Raises ValueError for what no browser sends: cut short, or of a wire type that Streamlit does not use.
    """
    count, waiting = 0, [(0, len(frame), BACK_MESSAGE)]
    while waiting:
        at, end, message = waiting.pop()
        parts = _messages_in(message)
        while at < end:
            count += 1
            if count > most:
                return count
            number, start, at = _field(frame, at)
            if number in parts and start < at:
                waiting.append((start, at, parts[number]))
        if at != end:
            raise ValueError("A field ends behind the message that it is in.")
    return count


@cache
def _messages_in(message: Descriptor) -> Mapping[int, Descriptor]:
    """Return the fields of a message that are messages themselves, by their numbers."""
    return {field.number: field.message_type for field in message.fields if field.message_type is not None}


def _field(frame: bytes, at: int) -> tuple[int, int, int]:
    """Parse the field that begins at `at`: its number, where its content begins, and where the next field does. A plain
    number's content begins where it ends.
    """
    key, at = _varint(frame, at)
    kind = key & 7
    if kind == _VARINT:
        at = _varint(frame, at)[1]
        return key >> 3, at, at
    if kind == _LENGTH:
        length, at = _varint(frame, at)
        return key >> 3, at, at + length
    if kind in (_EIGHT_BYTES, _FOUR_BYTES):
        at += 8 if kind == _EIGHT_BYTES else 4
        return key >> 3, at, at
    raise ValueError(f"A field is of wire type {kind}.")


def _varint(frame: bytes, at: int) -> tuple[int, int]:
    """Parse a number of seven bits a byte; return it, and where it ends."""
    value = shift = 0
    for at_byte in range(at, min(at + 10, len(frame))):
        value |= (frame[at_byte] & 127) << shift
        if frame[at_byte] < 128:
            return value, at_byte + 1
        shift += 7
    raise ValueError("A number does not end.")
