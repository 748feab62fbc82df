"""Start and stop of the server: check the settings, run the dashboard with uvicorn, and finish running answers."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from attnviz.app.cache import bounded
from attnviz.server import checks
from attnviz.server.settings import Settings, read_settings

if TYPE_CHECKING:
    from attnviz.server.app import Instance

_PATIENCE = 75  # seconds that an idle connection is kept
_MOST_FILES = 65_536  # open at a time, connections among them, where the system allows it
_SWEEP = 15  # seconds between two looks for abandoned sessions
_LAST_MESSAGES = 0.5  # seconds in which what the last run has drawn reaches its browser


def run(file: Path | None, given: Mapping[str, Any]) -> None:
    """Run the server until a signal stops it. Raises ValueError for an invalid setting."""
    settings = read_settings(file, os.environ, given)
    checks.check(settings)
    if settings.redirect_port:
        raise ValueError("redirect_port is for `cluster`: `serve` listens on one port, and answers nothing on another.")
    secret = checks.secret_of(settings)
    _prepare(settings, secret)
    _serve(settings, secret)


def _prepare(settings: Settings, secret: str) -> None:
    """Set the environment variables that Streamlit and the caches read when they are imported."""
    _raise_open_files()
    bounded.limit_heaps()
    os.environ["STREAMLIT_SERVER_COOKIE_SECRET"] = secret
    os.environ["ATTNVIZ_MODELS"] = ",".join(settings.models)
    os.environ["ATTNVIZ_MEMORY_SHARE"] = str(settings.memory_share)
    os.environ["ATTNVIZ_DATABASE"] = settings.database
    os.environ["ATTNVIZ_CLASS_DAYS"] = str(settings.class_days)


def _raise_open_files() -> None:
    """Raise this process's limit on open files to the allowed maximum.

    The default of a shell, often 1,024, is too low.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(ValueError, OSError):  # macOS has a limit below the one that it tells
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _serve(settings: Settings, secret: str) -> None:
    import uvicorn
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from attnviz.app.streamlit_internals import forget_gone_sessions
    from attnviz.server import reach
    from attnviz.server.app import Instance
    from attnviz.server.connections import Bounds, bounded_protocol
    from attnviz.server.sockets import LARGEST, Sockets
    from attnviz.server.telemetry import set_up_log

    set_up_log()
    instance = Instance(settings, secret)
    app: Any = instance.app
    if settings.proxies:  # only these proxies are believed about where a request comes from
        app = ProxyHeadersMiddleware(app, trusted_hosts=list(settings.proxies))
    if settings.metrics_port:
        instance.telemetry.listen(settings.metrics_port)
    proxies = tuple(ip_network(proxy, strict=False) for proxy in settings.proxies)
    bounds = Bounds(settings.connections_an_address, proxies, instance.telemetry.count_refusal)
    options = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        ssl_certfile=settings.certificate or None,
        ssl_keyfile=settings.key or None,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        http=bounded_protocol(bounds),
        ws=Sockets,
        ws_max_size=LARGEST,
        timeout_keep_alive=_PATIENCE,
        timeout_graceful_shutdown=3,
        timeout_notify=_SWEEP,
        callback_notify=forget_gone_sessions,
    )
    scheme = "https" if settings.is_tls else "http"
    instance.telemetry.say("starting", address=f"{scheme}://{settings.host}:{settings.port}")
    if not settings.front:  # of a cluster, which says it once
        reach.announce(settings, instance.telemetry.say)
    instance.warm_up()
    _empty_caches_on_signal(instance)
    server = _server_class()(options)
    server.drain_on_stop(instance, settings.stop_seconds)
    server.run()


def _empty_caches_on_signal(instance: "Instance") -> None:
    """Install a handler that empties the caches when the process receives SIGUSR1."""

    def empty() -> None:
        held = bounded.empty()
        instance.telemetry.say("emptied", megabytes=round(held / 1e6, 1))

    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, lambda *_: threading.Thread(target=empty, name="attnviz-empty").start())


def _server_class() -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        """uvicorn's server; at the first stop signal it refuses new visitors and waits for running answers, at the
        second it stops at once.
        """

        _instance: "Instance"
        _most_seconds: float

        def drain_on_stop(self, instance: "Instance", seconds: float) -> None:
            """Make a stop wait for the page runs of `instance` that are computing, at most so many seconds."""
            self._instance, self._most_seconds = instance, seconds

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """Handle a stop signal."""
            stopping = self._instance.state.is_stopping
            if stopping.is_set():
                super().handle_exit(sig, frame)
                return
            stopping.set()
            self._captured_signals.append(sig)
            asyncio.get_running_loop().create_task(self._drain())

        async def _drain(self) -> None:
            until = time.monotonic() + self._most_seconds
            turns = self._instance.turns
            while (turns.running_count or turns.waiting_count) and time.monotonic() < until:
                await asyncio.sleep(0.05)
            await asyncio.sleep(_LAST_MESSAGES)
            self._instance.telemetry.say("stopping", unfinished=turns.running_count + turns.waiting_count)
            self.should_exit = True

    return Server
