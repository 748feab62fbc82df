"""Websockets as uvicorn serves them, for answers of sixty small messages and a large one.

uvicorn deflates each message and writes it to the network by itself. Here what is sent at one go is one write, and only
what becomes smaller is deflated: scripts do, maps of float32 do not, and cost as much time as drawing the page.
"""

import asyncio
import zlib
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.frames import Frame

_LEAST = 2048  # bytes: of less there is little to win
_SAMPLE = 1024
_WINDOW_BITS = 12  # as uvicorn: they are memory of each connection


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
    """uvicorn's protocol with both."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        deflate = SparingDeflateFactory(
            server_max_window_bits=_WINDOW_BITS, client_max_window_bits=_WINDOW_BITS, compress_settings={"memLevel": 5}
        )
        self.conn.available_extensions = [deflate]

    def connection_made(self, transport: Any) -> None:
        """uvicorn hands over the connection."""
        super().connection_made(transport)
        self.transport = _Gathered(self.transport, self.loop)  # type: ignore[assignment]
