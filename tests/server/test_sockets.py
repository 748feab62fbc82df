"""Websockets: what shrinks is deflated, what does not is sent as it is, and both arrive as they were."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from websockets.sync.client import connect

from attnviz.server.sockets import Sockets, SparingDeflate
from tests.browser.server import free_port

TEXT = json.dumps(list(range(3000))).encode()
NOISE = os.urandom(20_000)
MESSAGES = [b"small", TEXT, NOISE, b"", b"small again", TEXT]


async def app(scope, receive, send) -> None:
    """Sends all messages at one go, and says good-bye."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    for message in MESSAGES:
        await send({"type": "websocket.send", "bytes": message})
    await send({"type": "websocket.close", "code": 1000})


@pytest.fixture
def writes(monkeypatch) -> list[int]:
    """Bytes of each write to a websocket's connection."""
    sizes: list[int] = []
    write = asyncio.selector_events._SelectorSocketTransport.write
    monkeypatch.setattr(
        asyncio.selector_events._SelectorSocketTransport,
        "write",
        lambda transport, data: (sizes.append(len(data)), write(transport, data))[1],
    )
    return sizes


@pytest.fixture
def address() -> Iterator[str]:
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(app, port=port, loop="asyncio", ws=Sockets, log_level="error", lifespan="off")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"ws://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=10)


@pytest.mark.parametrize("compression", ["deflate", None])
def test_every_message_arrives_as_it_was(address: str, writes: list[int], compression: str | None) -> None:
    with connect(address, compression=compression) as socket:
        assert list(socket) == MESSAGES
    sent = [size for size in writes if size > 1000]
    assert len(sent) == 1, "what is sent at one go is one write"
    assert len(NOISE) < sent[0]
    assert (sent[0] < len(NOISE) + len(TEXT)) == (compression is not None)


def test_what_does_not_shrink_is_not_deflated() -> None:
    from websockets.frames import Frame, Opcode

    deflate = SparingDeflate(False, False, 12, 12, {"memLevel": 5})
    sent = {data: deflate.encode(Frame(Opcode.BINARY, data)) for data in (b"small", TEXT, NOISE)}
    assert [frame.rsv1 for frame in sent.values()] == [False, True, False]
    assert len(sent[TEXT].data) < 0.5 * len(TEXT)
