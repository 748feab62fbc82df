"""Guard uvicorn's websockets against floods.

uvicorn parses all that it has read at once, and a read of 256 kB may hold 40,000 pings, or 256 MB of messages that
deflate well. Here it is parsed by the kilobyte, and no further than to the next message; pings, pongs and fragments are
counted; a message has so many fields and no more; and nothing is read from a peer that does not read.
"""

from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from attnviz.server.back_messages import count_fields

LARGEST = 1_000_000  # bytes of a message after inflating, as `maxWidgetStateSize`
_MOST_FIELDS = 4_000  # of a message: of each widget's state its id and its value, of a page a few hundred
_PIECE = 1 << 10  # bytes that are parsed at a time: deflated, they hold a megabyte at most
_SMALL = 1 << 10  # bytes: browsers send large messages in fragments, and these are larger
_MOST_SMALL, _SECONDS = 100, 10.0  # pings, pongs and small fragments in so many seconds


class Sockets(WebSocketsSansIOProtocol):
    """uvicorn's protocol with these bounds."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._unread = bytearray()
        self._small, self._since = 0, self.loop.time()

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
        """Check whether no message waits, the peer reads what it is sent, and no handshake is under way."""
        is_open = self.handshake_complete or not self.handshake_initiated
        return is_open and not self.transport.is_closing() and not self.read_paused and self.writable.is_set()

    async def receive(self) -> Any:
        """Return the next message for the dashboard, and parse the bytes behind it."""
        message = await super().receive()
        self._parse()
        return message

    async def send(self, message: Any) -> None:
        """Send a message to the browser. Raises ClientDisconnected, as uvicorn does, where the connection was
        refused.
        """
        if self.close_sent and self.handshake_complete:
            raise ClientDisconnected
        await super().send(message)
        if self.close_sent:  # also by an answer in plain HTTP, of which uvicorn would complain
            self.handshake_complete = True
        if self._unread:
            self._parse()

    def pause_writing(self) -> None:
        """Stop reading from a peer that does not read."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read from a peer that reads again."""
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
        """Count a small fragment of a message and take it."""
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
        """Close the connection, and parse nothing more of it; uvicorn leaves out what was parsed already. A peer that
        goes on after that is cut off.
        """
        if not self.close_sent:
            self.conn.fail(code, reason)
            self.handle_parser_exception()
        elif not self.transport.is_closing():
            self.transport.abort()
