"""The dashboard for one person: `attnviz.open` for a model in this process's memory, and `attnviz run`."""

import asyncio
import atexit
import os
import threading
import webbrowser
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar
from urllib.parse import urlencode

import uvicorn
from uvicorn.lifespan.on import LifespanOn

from attnviz.app import offered_models, streamlit_internals
from attnviz.models.catalogue import load
from attnviz.places import require_files
from attnviz.server.checks import check_port
from attnviz.server.connections import Bounds, bounded_protocol
from attnviz.server.own_door import HOST, TOKEN, new_token, own_app
from attnviz.server.settings import Settings, read_settings

if TYPE_CHECKING:
    from attnviz.models.protocol import Model

T = TypeVar("T")
_MOST_CONNECTIONS = 1_000  # connections: enough for one person's browser tabs


@dataclass
class Session:
    """A dashboard that runs in this process, at `address`, until `close()` or the end of a `with`.

    The address ends with a token; requests without it are refused.
    """

    address: str
    _name: str = field(repr=False)
    _server: uvicorn.Server = field(repr=False)
    _serving: "asyncio.Future[None]" = field(repr=False)

    def close(self) -> None:
        """Stop the server, and release the model. Further calls do nothing."""
        offered_models.remove_in_memory(self._name)
        self._server.should_exit = True
        _loop().wait(self._finish())

    async def _finish(self) -> None:
        await self._serving

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open(model: Any, tokenizer: Any = None, *, text: str = "", port: int = 0, browser: bool = False) -> Session:
    """Start the dashboard on a model in memory, at the page Heads; print and return its address.

    `model` is what `attnviz.load` has returned, or a model of transformers with its `tokenizer`; it stays on its
    device. `text` is the sentence or prompt to begin with. The dashboard listens on this machine alone (127.0.0.1), on
    a free port or on `port`, in a thread of this process. It answers only the browser that opens the returned address,
    which ends with a secret token; `browser` opens a window on this address. Raises ValueError with one sentence for a
    model that cannot be shown, for a port that is taken, and inside a dashboard that runs already.
    """
    require_files()
    if port:
        check_port(HOST, port)
    shown: Model = model if hasattr(model, "trace") and hasattr(model, "model_id") else load(model, tokenizer)
    loop = _loop()
    name = offered_models.add_in_memory(shown)
    try:
        server = loop.wait(loop.listen(port))
    except BaseException:
        offered_models.remove_in_memory(name)
        raise
    asked = {"model": name} | ({"src": text} if text else {}) | {TOKEN: loop.token}
    address = f"http://{HOST}:{_port_of(server)}/heads?{urlencode(asked)}"
    print(f"attnviz: {address}")  # noqa: T201 - says where it is
    if browser:
        webbrowser.open(address)
    return Session(address, name, server, loop.tasks[server])


class _Loop:
    """The thread that serves the dashboards of this process.

    Streamlit's runtime can start only once per process. It runs until the process ends, while servers start and stop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.tasks: dict[uvicorn.Server, asyncio.Future[None]] = {}
        threading.Thread(target=self._loop.run_forever, name="attnviz-session", daemon=True).start()
        streamlit_internals.set_options({"server.headless": True, "server.address": HOST})
        streamlit_internals.install()
        self.token = new_token()
        self._app = own_app(_own_settings(), self.token)
        self._lifespan = LifespanOn(uvicorn.Config(self._app, log_level="warning", lifespan="on"))
        self.wait(self._lifespan.startup())
        atexit.register(self._stop)

    def _stop(self) -> None:
        self.wait(self._lifespan.shutdown())

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the server's thread, wait for it, and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)

    async def listen(self, port: int) -> uvicorn.Server:
        """Start a server on a port (0 for any free one), and return it once it listens."""
        config = _config(self._app, port, lifespan="off")
        server = uvicorn.Server(config)
        self.tasks[server] = asyncio.ensure_future(server.serve())
        while not server.started:
            if self.tasks[server].done():
                raise ValueError(f"The dashboard could not listen on port {port} of {HOST}.")
            await asyncio.sleep(0.01)
        return server


def run(port: int, *, browser: bool, model: str = "") -> None:
    """Serve the dashboard on this machine alone until Ctrl-C. With a `model`, the printed address opens Heads with it.

    Raises ValueError for invalid settings.
    """
    streamlit_internals.set_options({"server.headless": True, "server.address": HOST, "server.port": port})
    streamlit_internals.install()
    token = new_token()
    asked = {"model": model} if model else {}
    address = f"http://{HOST}:{port}/{'heads' if model else ''}?{urlencode(asked | {TOKEN: token})}"
    server = uvicorn.Server(_config(own_app(_own_settings(), token), port, lifespan="on"))

    async def tell_when_it_listens() -> None:
        serving = asyncio.ensure_future(server.serve())
        while not (server.started or serving.done()):
            await asyncio.sleep(0.01)
        if server.started:
            print(f"attnviz: {address}", flush=True)  # noqa: T201 - says where it is
            if browser:
                webbrowser.open(address)
        await serving

    with suppress(KeyboardInterrupt):
        asyncio.run(tell_when_it_listens())


def _config(app: Any, port: int, *, lifespan: Literal["on", "off"]) -> uvicorn.Config:
    http = bounded_protocol(Bounds(_MOST_CONNECTIONS))
    return uvicorn.Config(app, host=HOST, port=port, http=http, lifespan=lifespan, log_level="warning")


def _own_settings() -> Settings:
    """Read `hosts` and `embedders` from the environment. A dashboard for one person uses no other settings."""
    said = read_settings(None, os.environ, {})
    return Settings(hosts=said.hosts, embedders=said.embedders)


@cache
def _loop() -> _Loop:
    if streamlit_internals.is_running():
        raise ValueError(
            "A dashboard runs in this process already, and Streamlit allows one. Please open the "
            "model there, by its folder or hub id."
        )
    return _Loop()


def _port_of(server: uvicorn.Server) -> int:
    return server.servers[0].sockets[0].getsockname()[1]
