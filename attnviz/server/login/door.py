"""Access control: a request without a valid cookie gets nothing but the login page."""

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.app.hosting import ROLE
from attnviz.server.base_path import redirect
from attnviz.server.telemetry import Telemetry

STUDENT, TEACHER = "student", "teacher"
NEXT = "attnviz_next"  # the cookie that remembers what was asked for before the login
_OPEN = ("/static/", "/favicon", "/login", "/logout", "/auth/", "/oauth2callback")


class Login(Protocol):
    """A way to log in, which determines the role from a request's cookies."""

    def role(self, cookies: Mapping[str, str]) -> str:
        """Return `STUDENT` or `TEACHER`; "" for a visitor who is not logged in."""
        ...

    async def page(self, request: Request) -> Response:
        """Answer `/login`."""
        ...

    async def logout(self, request: Request) -> Response:
        """Answer `/logout`."""
        ...


class Door:
    """Middleware that asks `login` for the role of every request and WebSocket, and passes it on in a header."""

    def __init__(self, app: ASGIApp, login: Login, telemetry: Telemetry) -> None:
        self._app, self._login, self._telemetry = app, login, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http" and scope["path"] in {"/login", "/logout"}:
            answer = self._login.page if scope["path"] == "/login" else self._login.logout
            await (await answer(Request(scope, receive)))(scope, receive, send)
            return
        cookies = HTTPConnection(scope).cookies
        role = self._login.role(cookies)
        headers = MutableHeaders(scope=scope)
        del headers[ROLE]
        if role:
            headers[ROLE] = role
        if role and NEXT in cookies and scope["type"] == "http" and scope["path"] == "/":
            await redirect(scope, "/login")(scope, receive, send)
        elif role or (scope["type"] == "http" and scope["path"].startswith(_OPEN)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            self._telemetry.count_refusal("login")
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _require_login(scope)(scope, receive, send)


def _require_login(scope: Scope) -> Response:
    request = Request(scope)
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        there = scope["path"] + (f"?{request.url.query}" if request.url.query else "")
        return redirect(scope, f"/login?{urlencode({'next': there})}")
    return PlainTextResponse("Log in first.\n", 401)


def local_path(text: str) -> str:
    """Return the path on this server to open after the login; "/" for a text that might lead to another site."""
    parts = urlsplit(text)
    is_local = text.startswith("/") and not text.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return text if is_local and text.isprintable() else "/"
