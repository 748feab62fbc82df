"""uvicorn's HTTP connections, with limits for which uvicorn has no setting. Proxies are exempt.

The head of a request must arrive in time, the client must read the answer, and an address may have a limited number of
connections. A client that keeps sending requests without reading the first answer is disconnected; no browser does so.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from attnviz.guards.network import network_of

_HEAD_SECONDS, _READ_SECONDS = 15.0, 60.0  # for a request's head, and for 48 kB of an answer
_MOST_HEAD = 64 << 10  # bytes of a request's head, its address among them
_REST_SECONDS, _MOST_REST = 3.0, 4 << 20  # for the rest of a head that is too long; its bytes
_TOO_LONG = b"This link is too long: at most 64 kB of an address are read. Shorten its text.\n"
_MOST_AHEAD = 64 << 10  # bytes of requests behind the one that is being answered


@dataclass(frozen=True)
class Bounds:
    """Limit on the connections of one address. Addresses in `proxies` may have any number.

    `refused` is called with the reason for each refusal.
    """

    connections: int
    proxies: Collection[IPv4Network | IPv6Network] = ()
    report: Callable[[str], None] = field(default=lambda _reason: None)

    def is_full(self, host: str, connections: Collection[Any]) -> bool:
        """Check whether an address has more of the open connections than it may have."""
        own = network_of(host)
        count = sum(one.client is not None and network_of(one.client[0]) == own for one in connections)
        return count > self.connections and not any(ip_address(host) in proxy for proxy in self.proxies)


def bounded_protocol(bounds: Bounds) -> type[H11Protocol]:
    """Return a subclass of uvicorn's HTTP protocol that limits connections per address and closes slow ones."""
    return type("BoundedRequests", (Requests,), {"bounds": bounds})


class Requests(H11Protocol):
    """The protocol of one HTTP connection with these limits; it ends when the connection becomes a WebSocket."""

    bounds: Bounds

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._head: asyncio.TimerHandle | None = None
        self._unread_answer: asyncio.TimerHandle | None = None
        self._rest: int | None = None  # bytes read and dropped so far of a head that is too long

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or close it if its address has too many."""
        super().connection_made(transport)
        if self.client is not None and self.bounds.is_full(self.client[0], self.connections):
            self._cut("connections")
        else:
            self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Process received bytes, and start or stop the timer for the head of a request."""
        if self._rest is not None:
            self._rest += len(data)
            if self._rest > _MOST_REST:
                self.transport.abort()
            return
        super().data_received(data)
        if self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) > _MOST_AHEAD:
            self._cut("requests ahead")
        self._wait_for_head()

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid request. If its head is too long, answer with a sentence that the browser can show.

        If the server closed the connection while the rest of the head is still arriving, the connection would be reset,
        and the browser would show no answer. The rest is therefore read first, up to a limit.
        """
        if len(self.conn.trailing_data[0]) <= _MOST_HEAD:
            super().send_400_response(msg)
            return
        self._rest = 0
        self.bounds.report("long link")
        head = (
            "HTTP/1.1 414 URI Too Long\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(_TOO_LONG)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + _TOO_LONG)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_REST_SECONDS, self.transport.abort)

    def _wait_for_head(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        is_upgraded = self not in self.connections
        if is_answering or is_upgraded or self.transport.is_closing():
            self._head = _cancel(self._head)
        elif self._head is None:
            self._head = self.loop.call_later(_HEAD_SECONDS, self._end_wait)

    def _end_wait(self) -> None:
        if self.conn.trailing_data[0]:
            self._cut("slow head")
        else:  # nothing came: a browser has connected for what it may need, or keeps what it needs no more
            self.transport.abort()

    def pause_writing(self) -> None:
        """Start the timer for an answer that the client does not read. For a while this may be a slow network."""
        super().pause_writing()
        self._unread_answer = self.loop.call_later(_READ_SECONDS, self._cut, "unread answer")

    def resume_writing(self) -> None:
        """Stop the timer for an unread answer, since the client reads again."""
        super().resume_writing()
        self._unread_answer = _cancel(self._unread_answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop both timers."""
        super().connection_lost(exc)
        self._head, self._unread_answer = _cancel(self._head), _cancel(self._unread_answer)

    def _cut(self, reason: str) -> None:
        self.bounds.report(reason)
        self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
