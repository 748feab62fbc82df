"""Login by OpenID Connect, with Streamlit's own login (`/auth/login`, Authlib) and a list of allowed accounts."""

import json
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.streamlit_internals import login_address, login_cookie
from attnviz.server.base_path import redirect, relative
from attnviz.server.login.door import NEXT, STUDENT, TEACHER, local_path
from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import Settings
from attnviz.server.telemetry import Say


def secrets_of(settings: Settings, secret: str) -> dict[str, Any]:
    """Return Streamlit's settings for the login provider, which would otherwise be in secrets.toml."""
    if settings.login != "oidc":
        return {}
    return {
        "auth": {
            "redirect_uri": f"{settings.public_root}/oauth2callback",
            "cookie_secret": secret,
            "client_id": settings.oidc_client,
            "client_secret": settings.oidc_secret,
            "server_metadata_url": settings.oidc_metadata,
        }
    }


class OidcLogin:
    """Login with the cookie that Streamlit signs after a provider has identified an account."""

    def __init__(self, settings: Settings, secret: str) -> None:
        parts = urlsplit(settings.public_address)
        self._origin, self._secret = f"{parts.scheme}://{parts.netloc}", secret
        self._cookie_path = settings.cookie_path
        self._allowed = tuple(name.lower() for name in settings.allowed)
        self._teachers = tuple(name.lower() for name in settings.teachers)

    def role(self, cookies: Mapping[str, str]) -> str:
        """Return the role of the account's e-mail address; "" if it is on no list."""
        account = self.account(cookies)
        if _is_on(self._teachers, account):
            return TEACHER
        return STUDENT if _is_on(self._allowed, account) else ""

    def account(self, cookies: Mapping[str, str]) -> str:
        """Return the e-mail address of the account that is logged in.

        The result is "" if this server did not sign the cookie, if it is too old, or if the provider has not verified
        the address.
        """
        try:
            said = json.loads(login_cookie(cookies, self._secret) or b"{}")
        except ValueError:
            return ""
        if not said.get("is_logged_in") or said.get("origin") != self._origin or said.get("email_verified") is False:
            return ""
        return str(said.get("email") or "").lower()

    async def page(self, request: Request) -> Response:
        """Answer `/login` with a button to the provider, or, after the login, with the page that was requested
        first.
        """
        there = local_path(request.query_params.get("next", "/"))
        account = self.account(request.cookies)
        if self.role(request.cookies):
            waiting = local_path(unquote(request.cookies.get(NEXT, "")) or there)
            answer: Response = redirect(request.scope, waiting)
            answer.delete_cookie(NEXT, self._cookie_path)
            return answer
        if account:
            refused = f"{account} is not on the list of this server. Please ask the people who run it."
            again = "<p><a class='button' href='auth/logout'>Use another account</a></p>"
            return plain_page("attnviz", paragraph(refused, is_error=True), again, status=403)
        answer = plain_page(
            "attnviz", f"<p><a class='button' href='{relative(request.scope['path'], login_address())}'>Log in</a></p>"
        )
        answer.set_cookie(NEXT, quote(there), max_age=600, path=self._cookie_path, httponly=True, samesite="lax")
        return answer

    async def logout(self, request: Request) -> Response:
        """Answer `/logout` with a redirect to Streamlit's own logout."""
        return redirect(request.scope, "/auth/logout")


def _is_on(names: tuple[str, ...], account: str) -> bool:
    """Check whether a list contains an account's e-mail address, or its domain as `@school.example`."""
    return bool(account) and any(account == name or (name.startswith("@") and account.endswith(name)) for name in names)


_STREAMLITS = "streamlit.web.server.starlette.starlette_auth_routes"  # its log of what went wrong, as tracebacks
_PATHS = ("/auth/login", "/oauth2callback")


class ProviderErrors:
    """Middleware that shows a page for errors of Streamlit's own login, which otherwise answers with a bare status."""

    def __init__(self, app: ASGIApp, settings: Settings, say: Say) -> None:
        self._app, self._provider = app, urlsplit(settings.oidc_metadata).netloc
        logger = logging.getLogger(_STREAMLITS)
        for before in [one for one in logger.filters if isinstance(one, _InOneLine)]:
            logger.removeFilter(before)
        logger.addFilter(_InOneLine(self._provider, say))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        if scope["type"] != "http" or scope["path"] not in _PATHS:
            await self._app(scope, receive, send)
            return
        is_refused = False

        async def send_unless_refused(message: Message) -> None:
            nonlocal is_refused
            is_refused = is_refused or message.get("status", 0) >= 400
            if not is_refused:
                await send(message)

        await self._app(scope, receive, send_unless_refused)
        if is_refused:
            said = (
                f"The login at {self._provider} cannot be reached, or refuses this server. Please try "
                "again in a moment."
            )
            again = f"<p><a class='button' href='{relative(scope['path'], '/login')}'>Try again</a></p>"
            await plain_page("attnviz", paragraph(said, is_error=True), again, status=502)(scope, receive, send)


class _InOneLine(logging.Filter):
    """Log filter that replaces a traceback with one line in this server's log."""

    def __init__(self, provider: str, say: Say) -> None:
        super().__init__()
        self._provider, self._say = provider, say

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether Streamlit should write the record itself, which is so if it has no traceback."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return True
        reason = str(error).partition("\n")[0].rstrip(".")
        self._say("fault", type=type(error).__name__, sentence=f"No login at {self._provider}: {reason}.")
        return False
