"""Rate limits per visitor, so that one does not slow the others: token buckets, and a limit on connected browsers.

WebSocket messages over the limit are delayed and never dropped, since losing the last one would leave an old picture on
the page. Requests for a page's scripts are delayed too. Other HTTP requests are answered 429 with Retry-After. An
upload waits until its address has a free place, and must arrive at a minimum rate.
"""

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aiolimiter import AsyncLimiter
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected

from attnviz.app.streamlit_internals import is_poll
from attnviz.guards.network import network_of
from attnviz.server.health import State
from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import Settings
from attnviz.server.telemetry import SCRIPTS, Telemetry

_AGAIN = 20  # seconds after which a refused visitor may ask again
_UPLOADS, _UPLOADS_AN_ADDRESS = 4, 2  # files that are taken at a time
_UPLOAD_SECONDS, _SLOWEST, _PATIENCE = 120, 16_000, 10.0  # of one file; bytes a second, after so many seconds
_BYTES, _BYTES_AT_ONCE = 250_000, 2_000_000  # a second, of one browser's frames, after inflating
_FILES, _FILES_AT_ONCE = 10, 200  # of a page's scripts, for each browser that an address may have
_REQUESTS = 8  # plain requests for each frame: a page's opening alone takes a few
_MOST = 10_000  # addresses that are remembered
_POLLS = 1.5  # a second, of each browser that an address may have: a class behind one address asks once a second each


class Buckets:
    """A token bucket per address: `burst` requests at once, then `rate` per second."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, AsyncLimiter] = OrderedDict()

    def bucket(self, address: str) -> AsyncLimiter:
        """Return the bucket of an address. If there are more than `_MOST`, the least recently used one is removed."""
        bucket = self._buckets.get(address) or new_bucket(self._rate, self._burst)
        self._buckets[address] = bucket
        self._buckets.move_to_end(address)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return bucket


def new_bucket(rate: float, burst: int) -> AsyncLimiter:
    """Return a token bucket that holds `burst` tokens and is refilled with `rate` tokens per second."""
    return AsyncLimiter(burst, burst / rate)


def address_of(scope: Scope) -> str:
    """Return the network of a connection's client, by which requests are limited: an IPv4 address, or a /64 of IPv6."""
    return network_of((scope.get("client") or ("", 0))[0])


class Uploads:
    """Limit on the number of simultaneous uploads, in total and per address."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(_UPLOADS)
        self._waiting: Counter[str] = Counter()
        self._own: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def place(self, address: str) -> AsyncIterator[None]:
        """Wait for a free upload place, and occupy it inside this context."""
        own = self._own.setdefault(address, asyncio.Semaphore(_UPLOADS_AN_ADDRESS))
        self._waiting[address] += 1
        try:
            async with own, self._all:
                yield
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address], self._own[address]


class FairUse:
    """Middleware that delays or refuses requests over the limits."""

    def __init__(self, app: ASGIApp, settings: Settings, telemetry: Telemetry, state: State) -> None:
        self._app, self._settings, self._telemetry, self._state = app, settings, telemetry, state
        self._frames = Buckets(settings.address_rate, settings.address_burst)
        polls = settings.visitors_an_address * _POLLS
        self._polls = Buckets(polls, math.ceil(2 * polls))
        self._requests = Buckets(settings.address_rate * _REQUESTS, settings.address_burst * _REQUESTS)
        browsers = settings.visitors_an_address
        self._files = Buckets(_FILES * browsers, _FILES_AT_ONCE * browsers)
        self._uploads = Uploads()
        self._connected: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith(SCRIPTS):
            await self._files.bucket(address_of(scope)).acquire()
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        bucket = self._requests.bucket(address_of(scope))
        if not bucket.has_capacity():
            seconds = math.ceil(1 / (self._settings.address_rate * _REQUESTS))
            self._telemetry.count_refusal("requests")
            headers = {"Retry-After": str(seconds), "Connection": "close"}  # what was sent ahead is not answered
            await PlainTextResponse("Too many requests.\n", 429, headers)(scope, receive, send)
            return
        await bucket.acquire()
        refusal = self._full_reason(address_of(scope)) if _is_page(scope) else ""
        if refusal:
            self._telemetry.count_refusal("full")
            await _full_page(refusal)(scope, receive, send)
            return
        if scope["method"] in {"PUT", "POST"} and scope["path"] != "/login":  # which reads its own few bytes
            await self._upload(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive an upload, which occupies a place until it has arrived. An upload that is too slow is refused."""
        began = False

        async def send_and_see(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            async with self._uploads.place(address_of(scope)), asyncio.timeout(_PATIENCE) as limit:
                await self._app(scope, _enforce_rate(receive, limit), send_and_see)
        except TimeoutError:
            self._telemetry.count_refusal("slow upload")
            if not began:
                said = "The file came too slowly.\n"
                await PlainTextResponse(said, 408, {"Connection": "close"})(scope, receive, send)
        except ClientDisconnect:  # in the middle of the file
            pass

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = address_of(scope)
        if refusal := self._full_reason(address):
            self._telemetry.count_refusal("full")
            await _deny(scope, receive, send, refusal)
            return
        self._connected[address] += 1
        self._telemetry.visitors.set(self._connected.total())
        own = new_bucket(self._settings.session_rate, self._settings.session_burst)
        own_bytes = new_bucket(_BYTES, _BYTES_AT_ONCE)
        choices, polls = self._frames.bucket(address), self._polls.bucket(address)

        async def receive_in_time() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                frame = message.get("bytes") or b""
                await own.acquire()
                await own_bytes.acquire(len(frame))
                await (polls if is_poll(frame) else choices).acquire()
            return message

        try:
            with suppress(WebSocketDisconnected):  # Streamlit goes on asking a connection that it could not send to
                await self._app(scope, receive_in_time, send)
        finally:
            self._connected[address] -= 1
            self._connected += Counter()  # forgets connections that have gone
            self._telemetry.visitors.set(self._connected.total())

    def _full_reason(self, address: str) -> str:
        """Return the reason to refuse another visitor from an address; "" if the visitor may connect."""
        if self._state.is_stopping.is_set():
            return "This server is about to stop; another one, or this one again, will answer in a moment."
        if self._connected.total() >= self._settings.visitors:
            return f"This server is full: all {self._settings.visitors} places are taken at the moment."
        if self._connected[address] >= self._settings.visitors_an_address:
            most = self._settings.visitors_an_address
            return f"This server admits {most} visitors from one network address, and yours has that many already."
        return ""


def _enforce_rate(receive: Receive, limit: asyncio.Timeout) -> Receive:
    """Wrap `receive` so that `limit` expires for a body that arrives too slowly, or takes too long in total."""
    loop = asyncio.get_running_loop()
    started, count = loop.time(), 0

    async def receive_timed() -> Message:
        nonlocal count
        message = await receive()
        count += len(message.get("body", b""))
        allowed = _PATIENCE + count / _SLOWEST if message.get("more_body") else _UPLOAD_SECONDS
        limit.reschedule(started + min(allowed, _UPLOAD_SECONDS))
        return message

    return receive_timed


def _is_page(scope: Scope) -> bool:
    """Check whether a browser requests a page, and not a script, a style sheet or other parts of a page."""
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return scope["method"] == "GET" and b"text/html" in accepted


def _full_page(refusal: str) -> Response:
    said = f"This page tries again in {_AGAIN} seconds, and opens at the same address."
    return plain_page("One moment", paragraph(refusal), paragraph(said), status=429, retry_after=_AGAIN)


async def _deny(scope: Scope, receive: Receive, send: Send, refusal: str) -> None:
    """Refuse a WebSocket with an HTTP answer if the server supports that, and by closing it otherwise."""
    if "websocket.http.response" in scope.get("extensions", {}):
        answer = PlainTextResponse(f"{refusal}\n", 429, {"Retry-After": str(_AGAIN)})
        await answer(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1013})
