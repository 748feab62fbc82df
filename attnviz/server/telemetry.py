"""Metrics for Prometheus, and a log with one line of JSON per request. Neither contains visitors' sentences."""

import json
import logging
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, start_http_server
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = (0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_LOG = logging.getLogger("attnviz.server")
_LESSONS = logging.getLogger("attnviz.lessons")  # which lessons' files are broken
SCRIPTS = ("/static/", "/_stcore/bidi-components/")  # paths of Streamlit's scripts, and of the widgets'
_PROBED = ("/healthz", "/readyz")  # every second by a load balancer, which is no news
Say = Callable[..., None]  # say(event, **what): one line of the log


class Telemetry:
    """The metrics and the log of a server."""

    def __init__(self, *, is_logging: bool = True, front: str = "") -> None:
        self._is_logging, self._front = is_logging, {"front": front} if front else {}
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.visitors = Gauge("attnviz_visitors", "Browsers that are connected", registry=self.registry)
        self.waiting = Gauge("attnviz_waiting", "Runs that wait for their turn", registry=self.registry)
        self.answers = Histogram(
            "attnviz_answer_seconds",
            "A page's run, its wait included",
            ["page"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.waits = Histogram(
            "attnviz_wait_seconds", "Of that, the wait for a turn", buckets=_SECONDS, registry=self.registry
        )
        self.refusals = Counter("attnviz_refusals", "What was refused, by reason", ["reason"], registry=self.registry)
        self.errors = Counter("attnviz_errors", "Errors of this server", ["type"], registry=self.registry)
        self.requests = Counter("attnviz_requests", "HTTP requests", ["status"], registry=self.registry)

    def say(self, event: str, **said: Any) -> None:
        """Write one line of the log."""
        if self._is_logging:
            say(event, **self._front, **said)

    def count_refusal(self, reason: str) -> None:
        """Count and log a refusal."""
        self.refusals.labels(reason).inc()
        self.say("refused", reason=reason)

    def listen(self, port: int) -> None:
        """Serve the metrics at /metrics on a port that only this machine can reach."""
        start_http_server(port, addr="127.0.0.1", registry=self.registry)


def say(event: str, **said: Any) -> None:
    """Write one line of this process's log."""
    _LOG.info(event, extra={"said": said})


class _JsonLines(logging.Formatter):
    """Log formatter that writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        told = {"at": round(record.created, 3), "event": record.getMessage()}
        return json.dumps(told | getattr(record, "said", {}), ensure_ascii=True, default=str)


def set_up_log() -> None:
    """Send our log to standard error, and disable Streamlit's access log, since our log has a line for each request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    for log in (_LOG, _LESSONS):
        log.handlers[:] = [handler]
        log.setLevel(logging.INFO)
        log.propagate = False


class CountedRequests:
    """Middleware that counts and logs every HTTP request: method, first part of the path, status, milliseconds."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app, self._telemetry = app, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def send_and_see(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            with suppress(OSError):  # the client has gone
                await send(message)

        try:
            await self._app(scope, receive, send_and_see)
        finally:
            self._record(scope, status, time.perf_counter() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        self._telemetry.requests.labels(str(status)).inc()
        parts = scope["path"].split("/")[1:3]
        if not scope["path"].startswith(SCRIPTS) and scope["path"] not in _PROBED:  # a hundred lines for each visitor
            path = "/" + "/".join(parts if parts[0] == "_stcore" else parts[:1])
            said = {"method": scope["method"], "path": path[:80], "status": status, "ms": round(seconds * 1e3, 1)}
            self._telemetry.say("request", **said)
