"""Ask an application in this process as if over the network."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import httpx
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.apart import run_apart

Client = httpx.AsyncClient


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the role that the server has given; of a websocket, send back each message."""
    if scope["type"] == "http":
        role = dict(scope["headers"]).get(b"x-attnviz-role", b"").decode()
        await PlainTextResponse(f"{scope['path']} {role}")(scope, receive, send)
        return
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] != "websocket.disconnect":
        if message["type"] == "websocket.receive":
            await send({"type": "websocket.send", "bytes": message["bytes"]})


def ask(app: Any, work: Callable[[Client], Coroutine[Any, Any, Any]], address: str = "192.0.2.1") -> Any:
    """Run `work` with a client of `app` that comes from `address`, and return its result."""

    async def go() -> Any:
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://attn.example") as client:
            return await work(client)

    return run_apart(go())


class Socket:
    """A websocket to an ASGI application: the messages sent to it, and its answers with their times."""

    def __init__(self, app: Any, address: str, headers: Mapping[str, str] | None = None) -> None:
        encoded = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
        self.scope = {"type": "websocket", "path": "/_stcore/stream", "client": (address, 1), "headers": encoded}
        self.scope["extensions"] = {"websocket.http.response": {}}
        self._app, self._said, self.sent = app, asyncio.Queue(), []
        self._said.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.create_task(self._app(self.scope, self._said.get, self._send))

    def say(self, *frames: bytes) -> None:
        """Send frames, one after the other."""
        for frame in frames:
            self._said.put_nowait({"type": "websocket.receive", "bytes": frame})

    async def wait_for_frames(self, count: int) -> list[bytes]:
        """Wait for so many frames, and return them."""
        while len(self.frames) < count:
            await asyncio.sleep(0.002)
        return self.frames

    async def leave(self) -> None:
        """Hang up."""
        self._said.put_nowait({"type": "websocket.disconnect"})
        await self.task

    @property
    def frames(self) -> list[bytes]:
        """Return the received frames."""
        return [message["bytes"] for message in self.sent if message["type"] == "websocket.send"]

    @property
    def status(self) -> int:
        """Return the status of an answer in plain HTTP; 0 without one."""
        return next((said["status"] for said in self.sent if said["type"] == "websocket.http.response.start"), 0)

    async def _send(self, message: Any) -> None:
        self.sent.append(message)
