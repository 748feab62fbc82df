"""Admission control in Ray's proxy: reject requests that cannot be answered in time before Ray does any work on them.

Ray's own limits only count requests, however long each takes, and refusing a request in a replica costs nearly as much
as answering it. The proxy process imports this file, which imports no model; `PROXY_VARIABLE` names the function
`middlewares`.
"""

import os
import time
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.engine.admission import Admission, Limits
from attnviz.engine.exchange import DEADLINE, SENT, RefusedError

PROXY_VARIABLE = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"
_MODELS_VARIABLE = "ATTNVIZ_ENGINE_PATHS"
_ANY_NUMBER = 1_000_000  # no limit here: Ray limits the number of waiting requests


def variables(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for Ray's proxy, with the paths of the models."""
    return {PROXY_VARIABLE: f"{__name__}.{middlewares.__name__}", _MODELS_VARIABLE: ",".join(paths.values())}


def middlewares() -> list[Middleware]:
    """Return the middlewares of Ray's proxy, which finds this function by its name in `PROXY_VARIABLE`."""
    return [Middleware(EngineDoor, os.environ.get(_MODELS_VARIABLE, "").split(","))]


class EngineDoor:
    """ASGI middleware of an engine that admits or rejects requests; each model has one `Admission` for all its
    replicas.
    """

    def __init__(self, app: ASGIApp, models: list[str]) -> None:
        self._app = app
        self._admissions = {f"/models/{path}": Admission(Limits(waiting=_ANY_NUMBER)) for path in models}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request: pass it on, or answer with a refusal."""
        model, _, operation = scope.get("path", "").rpartition("/")
        admission = self._admissions.get(model)
        if admission is None or scope.get("method") != "POST":
            await self._app(scope, receive, send)
            return
        headers, status = Headers(scope=scope), 0

        async def send_and_see(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            entry = admission.enter(operation, sent=_time(headers, SENT), until=_time(headers, DEADLINE))
        except RefusedError as refusal:
            await refusal.response()(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send_and_see)
        finally:
            admission.leave(entry, is_answered=status == 200)


def _time(headers: Headers, name: str) -> float:
    """Read a time from a header.

    A missing or invalid header gives the current time for `SENT` and infinity for others, because the replica refuses
    such a request.
    """
    try:
        return float(headers[name])
    except (KeyError, ValueError):
        return time.time() if name == SENT else float("inf")
