"""An engine in a thread of this process, on a port of its own: tests reach it over HTTP."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import uvicorn

from attnviz.engine.admission import Limits
from attnviz.engine.service import ModelService
from attnviz.engine.serving import engine_app, path_of

TOKEN = "a secret of both"


class Served:
    """An engine that can be stopped and started again at the same address."""

    def __init__(self, models: Mapping[str, Any], limits: Limits | None = None) -> None:
        self._models, self._limits = models, limits or Limits()
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start answering; return when it does."""
        self.services = {
            path_of(name): ModelService(model, name, token=TOKEN, limits=self._limits)
            for name, model in self._models.items()
        }
        app = engine_app(self.services, token=TOKEN)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app, port=self.port, lifespan="off", timeout_graceful_shutdown=1, access_log=False, log_level="error"
            )
        )
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    def stop(self) -> None:
        """Stop answering."""
        self._server.should_exit = True
        self._thread.join()


@contextmanager
def serve_models(models: Mapping[str, Any], limits: Limits | None = None) -> Iterator[Served]:
    """Provide an engine with these models by name."""
    engine = Served(models, limits)
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()
