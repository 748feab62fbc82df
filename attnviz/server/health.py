"""Liveness and readiness, for a load balancer, a container or an administrator."""

from threading import Event

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class State:
    """The server's state: `is_loaded` is set once the shipped model is loaded, `is_stopping` once a stop was
    requested.
    """

    def __init__(self) -> None:
        self.is_loaded, self.is_stopping = Event(), Event()
        self.fault = ""

    @property
    def reason(self) -> str:
        """The reason why a load balancer should send no new visitors here; "" if it may."""
        if self.is_stopping.is_set():
            return "stopping"
        if self.fault:
            return self.fault
        return "" if self.is_loaded.is_set() else "loading the model"


class Health:
    """Middleware that answers `/healthz` and `/readyz`, for any host name and without login.

    `/healthz` is 200 while the process runs. `/readyz` is 200 once the model is loaded, and 503 before.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        path = scope["path"] if scope["type"] == "http" else ""
        if path == "/healthz":
            await PlainTextResponse("up\n")(scope, receive, send)
        elif path == "/readyz":
            said = self._state.reason
            await PlainTextResponse(f"{said or 'ready'}\n", 503 if said else 200)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
