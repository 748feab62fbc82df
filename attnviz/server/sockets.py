"""Protection of uvicorn's WebSockets against floods.

uvicorn parses all bytes of a read at once. A read of 256 kB may contain 40,000 pings, or compressed messages of 256 MB
in total. Here the bytes are parsed in pieces of a kilobyte, and only up to the next message. Pings, pongs and fragments
are limited, and so are the fields of a message. Nothing is read from a peer that does not read what it is sent.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from attnviz.app.streamlit_internals import BACK_MESSAGE

LARGEST = 1_000_000  # bytes of a message after inflating, as `maxWidgetStateSize`
_MOST_FIELDS = 4_000  # of a message: of each widget's state its id and its value, of a page a few hundred
_PIECE = 1 << 10  # bytes that are parsed at a time: deflated, they hold a megabyte at most
_SMALL = 1 << 10  # bytes: browsers send large messages in fragments, and these are larger
_MOST_SMALL, _SECONDS = 100, 10.0  # pings, pongs and small fragments in so many seconds


class Sockets(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol with limits against floods: on pings, pongs, fragments and fields of a message."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._unread = bytearray()
        self._small, self._since = 0, self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Store received bytes, and parse them as far as `_has_room` allows."""
        self._unread += data
        self._parse()

    def _parse(self) -> None:
        """Parse up to the next message. Once all stored bytes are parsed, resume reading."""
        while self._unread and self._has_room():
            piece = bytes(self._unread[:_PIECE])
            del self._unread[:_PIECE]
            super().data_received(piece)
        if self.transport.is_closing():
            self._unread.clear()
        elif self._unread or not self.writable.is_set():
            self.transport.pause_reading()
        elif not self.read_paused:
            self.transport.resume_reading()

    def _has_room(self) -> bool:
        """Check that no message is waiting, that the peer reads what it is sent, and that no handshake is in
        progress.
        """
        is_open = self.handshake_complete or not self.handshake_initiated
        return is_open and not self.transport.is_closing() and not self.read_paused and self.writable.is_set()

    async def receive(self) -> Any:
        """Return the next message for the dashboard, and continue parsing after it."""
        message = await super().receive()
        self._parse()
        return message

    async def send(self, message: Any) -> None:
        """Send a message to the browser. Raises ClientDisconnected, as uvicorn does, if the connection was refused."""
        if self.close_sent and self.handshake_complete:
            raise ClientDisconnected
        await super().send(message)
        if self.close_sent:  # also by an answer in plain HTTP, of which uvicorn would complain
            self.handshake_complete = True
        if self._unread:
            self._parse()

    def pause_writing(self) -> None:
        """Stop reading from a peer that does not read what it is sent."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Resume reading from a peer that reads again."""
        super().resume_writing()
        self._parse()

    def keepalive_timeout(self) -> None:
        """Close the connection at once and drop unsent data."""
        super().keepalive_timeout()
        self.transport.abort()

    def handle_ping(self) -> None:
        """Count a ping and answer it."""
        if self._is_within_bounds():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Count a pong and handle it."""
        if self._is_within_bounds():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        """Count a fragment of a message if it is small, and process it."""
        if len(event.data) >= _SMALL or self._is_within_bounds():
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Pass a message to the dashboard, unless parsing it would need far more memory than it has bytes."""
        message = b"".join(self.frames)
        self.frames = [message]
        try:
            if self.close_sent:
                self._refuse(CloseCode.POLICY_VIOLATION, "The connection is over.")
            elif count_fields(message, _MOST_FIELDS) > _MOST_FIELDS:
                self._refuse(CloseCode.MESSAGE_TOO_BIG, "A page has fewer widgets.")
        except ValueError as error:
            self._refuse(CloseCode.INVALID_DATA, str(error))
        super().send_receive_event_to_app()

    def _is_within_bounds(self) -> bool:
        """Count a frame that completes no message. Close the connection and return False if there are too many."""
        if (now := self.loop.time()) - self._since > _SECONDS:
            self._small, self._since = 0, now
        self._small += 1
        if self._small > _MOST_SMALL:
            self._refuse(CloseCode.POLICY_VIOLATION, "Too many frames without a message.")
        return self._small <= _MOST_SMALL

    def _refuse(self, code: CloseCode, reason: str) -> None:
        """Close the connection, and ignore all further bytes. A peer that goes on sending is disconnected."""
        if not self.close_sent:
            self.conn.fail(code, reason)
            self.handle_parser_exception()
        elif not self.transport.is_closing():
            self.transport.abort()


_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = (
    0,
    1,
    2,
    5,
)  # protobuf's wire types, but for groups, which no browser sends


def count_fields(frame: bytes, most: int) -> int:
    """Count the fields of a protobuf message, including nested messages; stop at `most` + 1.

    Raises ValueError for bytes that no browser sends: a truncated message, or a wire type that Streamlit does not use.
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
    """Return the types of a message's fields that are messages themselves, by field number."""
    return {field.number: field.message_type for field in message.fields if field.message_type is not None}


def _field(frame: bytes, at: int) -> tuple[int, int, int]:
    """Parse the field that begins at `at`. Return its number, where its content begins, and where the next field
    begins.

    For a varint, both places are the end of the field.
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
    """Parse a varint, which has seven bits per byte. Return its value and where it ends."""
    value = shift = 0
    for at_byte in range(at, min(at + 10, len(frame))):
        value |= (frame[at_byte] & 127) << shift
        if frame[at_byte] < 128:
            return value, at_byte + 1
        shift += 7
    raise ValueError("A number does not end.")
