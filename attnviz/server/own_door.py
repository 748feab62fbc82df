"""Access control for a dashboard for one person (`attnviz run`, `attnviz.open`), by a token made at each start.

Another site's page in the same browser can send requests to any port of this machine. Requests are therefore refused if
they use a host name that another site has pointed at this machine (DNS rebinding), come from an origin other than the
dashboard's own (a different port is a different origin), or lack the token. The token is in the printed address, and
later in a cookie.
"""

import secrets
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st
from starlette.datastructures import Headers as RequestHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.app.address import browser
from attnviz.places import APP
from attnviz.server.headers import Headers, inline_scripts
from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import Settings

HOST = "127.0.0.1"  # this machine alone
LOCAL = ("localhost", HOST, "[::1]")
TOKEN = "token"
_HEALTH = "/_stcore/health"  # its answer says only that a server runs


class OwnDoor:
    """Middleware that accepts only requests from the dashboard's own origin that have the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        answer = self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        if answer is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer that refuses a request; None if the request is accepted."""
        headers = RequestHeaders(scope=scope)
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
            return PlainTextResponse("The dashboard answers requests from its own pages only.\n", HTTPStatus.FORBIDDEN)
        if scope["path"] == _HEALTH or self._is_token(HTTPConnection(scope).cookies.get(self._cookie(scope), "")):
            return None
        if scope["type"] == "http" and scope["method"] == "GET":
            return self._first_page(scope, headers)
        return PlainTextResponse("The token is missing.\n", HTTPStatus.FORBIDDEN)

    def _first_page(self, scope: Scope, headers: RequestHeaders) -> Response:
        """Answer a browser without the cookie.

        If the requested address has the token, set the cookie. Otherwise show where to find the token.
        """
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        query = urlencode([(name, value) for name, value in asked if name != TOKEN])
        there = scope["path"] + (f"?{query}" if query else "")
        if any(self._is_token(value) for name, value in asked if name == TOKEN):
            answer = RedirectResponse(there, HTTPStatus.SEE_OTHER)
            answer.set_cookie(self._cookie(scope), self._token, httponly=True, samesite="lax")
            return answer
        name, _, port = headers.get("host", "").partition(":")
        if name == "localhost":  # as links of the documentation have it: the cookie belongs to the printed name
            return RedirectResponse(f"http://{HOST}:{port}{there}", HTTPStatus.SEE_OTHER)
        said = "Open the address that attnviz printed when it started: it ends with a token, which this address lacks."
        return plain_page("A token is missing", paragraph(said), status=HTTPStatus.FORBIDDEN)

    def _is_token(self, said: str) -> bool:
        return secrets.compare_digest(said.encode("utf-8", "replace"), self._token.encode())

    @staticmethod
    def _cookie(scope: Scope) -> str:
        """Return the cookie's name, which contains the server's port, since browsers send cookies to all ports
        of a host.
        """
        return f"attnviz_{(scope.get('server') or ('', 0))[1]}"


def own_app(settings: Settings, token: str) -> st.App:
    """Return the dashboard as an ASGI application behind an `OwnDoor`, with the security headers of a shared server."""
    return st.App(
        APP / "dashboard.py",
        middleware=[
            Middleware(Headers, settings, (*inline_scripts(), *browser.SCRIPTS)),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts or LOCAL), www_redirect=False),
            Middleware(OwnDoor, token),
        ],
    )


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(24)
