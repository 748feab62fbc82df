"""Errors of a login provider that does not answer, or refuses this instance: a page for the visitor, a line in the
log.
"""

import logging
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import Settings
from attnviz.server.telemetry import Say

_STREAMLITS = "streamlit.web.server.starlette.starlette_auth_routes"  # its log of what went wrong, as tracebacks
_PATHS = ("/auth/login", "/oauth2callback")


class ProviderErrors:
    """Middleware around Streamlit's own login, which answers such errors with two words and a status."""

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
            said = f"The login at {self._provider} cannot be reached, or refuses this instance: try again in a moment."
            again = "<p><a class='button' href='/login'>Try again</a></p>"
            await plain_page("attnviz", paragraph(said, is_error=True), again, status=502)(scope, receive, send)


class _InOneLine(logging.Filter):
    """Log filter: it replaces a traceback by one sentence in this instance's log."""

    def __init__(self, provider: str, say: Say) -> None:
        super().__init__()
        self._provider, self._say = provider, say

    def filter(self, record: logging.LogRecord) -> bool:
        """Check whether Streamlit should write the record itself."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return True
        reason = str(error).partition("\n")[0].rstrip(".")
        self._say("fault", type=type(error).__name__, sentence=f"No login at {self._provider}: {reason}.")
        return False
