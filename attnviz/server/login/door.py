"""Who is let in: nothing but the login is answered to anybody whose cookie does not say a role."""

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.server.telemetry import Telemetry
from attnviz.ui.hosted import ROLE

STUDENT, TEACHER = "student", "teacher"
NEXT = "attnviz_next"  # the cookie that remembers what was asked for before the login
_OPEN = ("/static/", "/favicon", "/login", "/logout", "/auth/", "/oauth2callback")


class Login(Protocol):
    """A way to say who somebody is."""

    def role(self, cookies: Mapping[str, str]) -> str:
        """`STUDENT` or `TEACHER`; "" for nobody."""
        ...

    async def page(self, request: Request) -> Response:
        """What `/login` answers."""
        ...

    async def left(self, request: Request) -> Response:
        """What `/logout` answers."""
        ...


class Door:
    """Asks `login` for every request and every websocket, and tells the dashboard the role in a header."""

    def __init__(self, app: ASGIApp, login: Login, telemetry: Telemetry) -> None:
        self._app, self._login, self._telemetry = app, login, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http" and scope["path"] in {"/login", "/logout"}:
            answer = self._login.page if scope["path"] == "/login" else self._login.left
            await (await answer(Request(scope, receive)))(scope, receive, send)
            return
        cookies = HTTPConnection(scope).cookies
        role = self._login.role(cookies)
        headers = MutableHeaders(scope=scope)
        del headers[ROLE]
        if role:
            headers[ROLE] = role
        if role and NEXT in cookies and scope["type"] == "http" and scope["path"] == "/":
            await RedirectResponse("/login", 303)(scope, receive, send)
        elif role or (scope["type"] == "http" and scope["path"].startswith(_OPEN)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            self._telemetry.refused("login")
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _asked_to_log_in(scope)(scope, receive, send)


def _asked_to_log_in(scope: Scope) -> Response:
    request = Request(scope)
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        there = scope["path"] + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?{urlencode({'next': there})}", 303)
    return PlainTextResponse("Log in first.\n", 401)


def local_path(text: str) -> str:
    """A place of this instance to go to after the login; "/" for what might lead anywhere else."""
    parts = urlsplit(text)
    is_local = text.startswith("/") and not text.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return text if is_local and text.isprintable() else "/"
