"""Security headers: what our pages may do in a browser, and which sites may show them in a frame."""

import base64
import hashlib
import re
from http import HTTPStatus
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.server.settings import Settings

WIDGETS = "/_stcore/bidi-components/"
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy(settings: Settings, scripts: tuple[str, ...]) -> str:
    """Return the Content-Security-Policy: nothing from other hosts, no eval, and no inline scripts except `scripts`.

    `blob:` is allowed for scripts, because Streamlit imports each component from a blob; to make a blob, one must
    already run a script. Styles are written by Streamlit's libraries while the page runs, so that they may be inline.
    """
    hashes = " ".join(sorted({_hash(script) for script in scripts}))
    parts = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {hashes}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self' blob: data:",
        "worker-src": "'self' blob:",
        "media-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(settings.embedders) or "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def inline_scripts() -> tuple[str, ...]:
    """Return the inline scripts in the page of the installed Streamlit."""
    index = Path(streamlit.__file__).parent / "static" / "index.html"
    return tuple(_INLINE.findall(index.read_text(encoding="utf-8")))


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


class Headers:
    """Middleware that sets the security headers on every answer."""

    def __init__(self, app: ASGIApp, settings: Settings, scripts: tuple[str, ...]) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy(settings, scripts),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
            "Cross-Origin-Opener-Policy": "same-origin",
        }
        if not settings.embedders:
            self._headers["X-Frame-Options"] = "DENY"
        self._is_secure = settings.is_tls or settings.public_address.startswith("https:")
        if self._is_secure:
            self._headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""

        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                if scope["path"].startswith(WIDGETS) and message["status"] == HTTPStatus.OK:
                    headers["Cache-Control"] = "public, max-age=31536000, immutable"  # the name has a hash
                if self._is_secure:
                    message["headers"] = [_secure_cookie(*header) for header in message["headers"]]
            await send(message)

        await self._app(scope, receive, send_with if scope["type"] == "http" else send)


def _secure_cookie(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return a header unchanged, or with `Secure` added to a cookie, which Streamlit does not do."""
    if name.lower() != b"set-cookie" or b"; secure" in value.lower():
        return name, value
    return name, value + b"; Secure"
