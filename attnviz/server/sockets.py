"""Websockets as uvicorn serves them, for answers of sixty small messages and a large one, and against floods.

uvicorn deflates each message and writes it to the network by itself. Here what is sent at one go is one write, and only
what becomes smaller is deflated: scripts do, maps of float32 do not, and cost as much time as drawing the page.

uvicorn parses whatever it has read at once, and a read of 256 kB may hold 40,000 pings, or 256 MB of messages that
deflate well. Here it is parsed by the kilobyte, and no further than to the next message; pings, pongs and fragments are
counted; a message has so many fields and no more; and nothing is read from a peer that does not read.
"""

import asyncio
import zlib
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.frames import CloseCode, Frame

from attnviz.server.back_messages import count_fields

_LEAST = 2048  # bytes: of less there is little to win
_SAMPLE = 1024
_WINDOW_BITS = 12  # as uvicorn: they are memory of each connection
LARGEST = 1_000_000  # bytes of a message after inflating, as `maxWidgetStateSize`
_MOST_FIELDS = 4_000  # of a message: of each widget's state its id and its value, of a page a few hundred
_PIECE = 1 << 10  # bytes that are parsed at a time: deflated, they hold a megabyte at most
_SMALL = 1 << 10  # bytes: browsers send large messages in fragments, and these are larger
_MOST_SMALL, _SECONDS = 100, 10.0  # pings, pongs and small fragments in so many seconds


class SparingDeflate(PerMessageDeflate):
    """Leaves messages as they are that are small, or whose middle hardly becomes smaller."""

    def encode(self, frame: Frame) -> Frame:
        """The frame as it is sent; a frame that is not deflated says so itself."""
        return super().encode(frame) if frame.fin and _shrinks(frame.data) else frame


def _shrinks(data: Any) -> bool:
    """Whether a sample of the data becomes smaller by a quarter."""
    if len(data) < _LEAST:
        return False
    start = (len(data) - _SAMPLE) // 2
    return len(zlib.compress(bytes(data[start : start + _SAMPLE]), 1)) < 0.75 * _SAMPLE


class SparingDeflateFactory(ServerPerMessageDeflateFactory):
    """Negotiates as its base does."""

    def process_request_params(
        self, params: Sequence[Any], accepted_extensions: Sequence[Any]
    ) -> tuple[list[Any], PerMessageDeflate]:
        """What is answered, and the extension."""
        answered, made = super().process_request_params(params, accepted_extensions)
        return list(answered), SparingDeflate(
            made.remote_no_context_takeover,
            made.local_no_context_takeover,
            made.remote_max_window_bits,
            made.local_max_window_bits,
            made.compress_settings,
        )


class _Gathered:
    """A transport that writes once, at the end of the event loop's turn, all that was written in it."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._waiting: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Write with whatever else is written now."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)

    def close(self) -> None:
        """Close after what was written."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._waiting and not self._transport.is_closing():
            self._transport.write(b"".join(self._waiting))
        self._waiting.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Sockets(WebSocketsSansIOProtocol):
    """uvicorn's protocol with all of that."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        deflate = SparingDeflateFactory(
            server_max_window_bits=_WINDOW_BITS, client_max_window_bits=_WINDOW_BITS, compress_settings={"memLevel": 5}
        )
        self.conn.available_extensions = [deflate]
        self._unread = bytearray()
        self._small, self._since = 0, self.loop.time()

    def connection_made(self, transport: Any) -> None:
        """uvicorn hands over the connection."""
        super().connection_made(transport)
        self.transport = _Gathered(self.transport, self.loop)  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Parse as much as there is room for."""
        self._unread += data
        self._parse()

    def _parse(self) -> None:
        """Parse to the next message; read on once all that was read is parsed."""
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
        """Whether no message waits, the peer reads what it is sent, and no handshake is under way."""
        is_open = self.handshake_complete or not self.handshake_initiated
        return is_open and not self.transport.is_closing() and not self.read_paused and self.writable.is_set()

    async def receive(self) -> Any:
        """The next message for the dashboard; what came behind it is parsed now."""
        message = await super().receive()
        self._parse()
        return message

    async def send(self, message: Any) -> None:
        """A message for the browser. Raises ClientDisconnected, as uvicorn does, where the connection was refused."""
        if self.close_sent and self.handshake_complete:
            raise ClientDisconnected
        await super().send(message)
        if self.close_sent:  # also by an answer in plain HTTP, of which uvicorn would complain
            self.handshake_complete = True
        if self._unread:
            self._parse()

    def pause_writing(self) -> None:
        """The peer does not read: nothing is read of it either."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """The peer reads again."""
        super().resume_writing()
        self._parse()

    def keepalive_timeout(self) -> None:
        """Close the connection at once and drop unsent data."""
        super().keepalive_timeout()
        self.transport.abort()

    def handle_ping(self) -> None:
        """Answer a ping."""
        if self._is_within_bounds():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Hear that the peer is there."""
        if self._is_within_bounds():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        """Take a fragment of a message."""
        if len(event.data) >= _SMALL or self._is_within_bounds():
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Hand over a message, unless it would take far more memory than it has bytes."""
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
        """Count a frame that brings no message. The connection is closed where there are too many."""
        if (now := self.loop.time()) - self._since > _SECONDS:
            self._small, self._since = 0, now
        self._small += 1
        if self._small > _MOST_SMALL:
            self._refuse(CloseCode.POLICY_VIOLATION, "Too many frames without a message.")
        return self._small <= _MOST_SMALL

    def _refuse(self, code: CloseCode, reason: str) -> None:
        """Close the connection, and parse nothing more of it; uvicorn leaves out what was parsed already. Who goes on
        after the dashboard has closed it is cut off.
        """
        if not self.close_sent:
            self.conn.fail(code, reason)
            self.handle_parser_exception()
        elif not self.transport.is_closing():
            self.transport.abort()
