"""How much one visitor may ask for, so that the others are not slowed: buckets, and a bound on who is connected.

What comes over a websocket is delayed and never dropped: a frame that is lost may be the last, and would leave an old
picture on the page. Plain requests are answered 429 with Retry-After.
"""

import asyncio
import math
from collections import Counter, OrderedDict
from contextlib import AsyncExitStack

from aiolimiter import AsyncLimiter
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.server.health import State
from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import Settings
from attnviz.server.telemetry import Telemetry
from attnviz.ui.streamlit_internals import is_poll

_AGAIN = 20  # seconds after which who was refused a place may ask again
_UPLOADS, _UPLOAD_SECONDS = 4, 120  # files that are taken at a time, and how long one may take
_REQUESTS = 8  # plain requests for each frame: a page's opening alone takes a few
_MOST = 10_000  # addresses that are remembered
_POLLS = 1.5  # a second, of each browser that an address may have: a class behind one address asks once a second each


class Buckets:
    """A bucket for each address: `burst` at once, then `rate` a second."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, AsyncLimiter] = OrderedDict()

    def of(self, address: str) -> AsyncLimiter:
        """The bucket of an address; who has not been heard of for longest is forgotten."""
        bucket = self._buckets.get(address) or bucket_of(self._rate, self._burst)
        self._buckets[address] = bucket
        self._buckets.move_to_end(address)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return bucket


def bucket_of(rate: float, burst: int) -> AsyncLimiter:
    """A bucket that holds `burst` and is filled by `rate` a second."""
    return AsyncLimiter(burst, burst / rate)


def address_of(scope: Scope) -> str:
    """Whose connection it is."""
    return network_of((scope.get("client") or ("", 0))[0])


def network_of(host: str) -> str:
    """An address as one customer's: of IPv6, where each has a whole /64, its first half."""
    return ":".join(host.split(":")[:4]) if host.count(":") > 3 else host


class FairUse:
    """Between the network and the dashboard."""

    def __init__(self, app: ASGIApp, settings: Settings, telemetry: Telemetry, state: State) -> None:
        self._app, self._settings, self._telemetry, self._state = app, settings, telemetry, state
        self._frames = Buckets(settings.address_rate, settings.address_burst)
        polls = settings.visitors_an_address * _POLLS
        self._polls = Buckets(polls, math.ceil(2 * polls))
        self._requests = Buckets(settings.address_rate * _REQUESTS, settings.address_burst * _REQUESTS)
        self._uploads = asyncio.Semaphore(_UPLOADS)
        self._connected: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http" and not scope["path"].startswith("/static/"):
            await self._request(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        bucket = self._requests.of(address_of(scope))
        if not bucket.has_capacity():
            seconds = math.ceil(1 / (self._settings.address_rate * _REQUESTS))
            self._telemetry.refused("requests")
            answer = PlainTextResponse("Too many requests.\n", 429, {"Retry-After": str(seconds)})
            await answer(scope, receive, send)
            return
        await bucket.acquire()
        refusal = self._full(address_of(scope)) if _is_page(scope) else ""
        if refusal:
            self._telemetry.refused("full")
            await _full_page(refusal)(scope, receive, send)
            return
        async with AsyncExitStack() as stack:
            if scope["method"] in {"PUT", "POST"}:
                await stack.enter_async_context(self._uploads)
                await stack.enter_async_context(asyncio.timeout(_UPLOAD_SECONDS))
            await self._app(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = address_of(scope)
        if refusal := self._full(address):
            self._telemetry.refused("full")
            await _denied(scope, receive, send, refusal)
            return
        self._connected[address] += 1
        self._telemetry.visitors.set(self._connected.total())
        own = bucket_of(self._settings.session_rate, self._settings.session_burst)
        choices, polls = self._frames.of(address), self._polls.of(address)

        async def receive_in_time() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                await own.acquire()
                await (polls if is_poll(message.get("bytes") or b"") else choices).acquire()
            return message

        try:
            await self._app(scope, receive_in_time, send)
        finally:
            self._connected[address] -= 1
            self._connected += Counter()  # forgets who has gone
            self._telemetry.visitors.set(self._connected.total())

    def _full(self, address: str) -> str:
        """Why nobody else can be let in from there; "" where there is room."""
        if self._state.is_stopping.is_set():
            return "This server is about to stop; another one, or this one again, will answer in a moment."
        if self._connected.total() >= self._settings.visitors:
            return f"All {self._settings.visitors} places are taken at the moment."
        if self._connected[address] >= self._settings.visitors_an_address:
            return f"All {self._settings.visitors_an_address} places of one address are taken at the moment."
        return ""


def _is_page(scope: Scope) -> bool:
    """Whether a browser asks for a page, and not for what a page is made of."""
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return scope["method"] == "GET" and b"text/html" in accepted


def _full_page(refusal: str) -> Response:
    said = f"This page asks again in {_AGAIN} seconds and keeps what its address says."
    return plain_page("One moment", paragraph(refusal), paragraph(said), status=429, retry_after=_AGAIN)


async def _denied(scope: Scope, receive: Receive, send: Send, refusal: str) -> None:
    """Refuse a websocket as plain HTTP, where the server can."""
    if "websocket.http.response" in scope.get("extensions", {}):
        answer = PlainTextResponse(f"{refusal}\n", 429, {"Retry-After": str(_AGAIN)})
        await answer(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1013})
