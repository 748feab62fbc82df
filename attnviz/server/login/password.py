"""The simple login: one password for all students, and an optional one for teachers."""

import asyncio
import hashlib
import hmac
import html
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from attnviz.server.base_path import redirect
from attnviz.server.fair_use import Buckets, address_of, new_bucket
from attnviz.server.login.door import STUDENT, TEACHER, local_path
from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import Settings
from attnviz.server.telemetry import Telemetry

_COOKIE, _HOURS = "attnviz_role", 12
_LONGEST, _SECONDS = 4096, 5.0  # of what the form sends
_KIND = "application/x-www-form-urlencoded"
# Tries at a password: of one address (a class sits behind one), and of all together.
_TRIES, _EVERYBODYS_TRIES, _MINUTE = 40, 200, 60.0
# Where others have used these up, each browser that has seen the form has tries of its own. An address gets so many
# such browsers at once, and one more a second: a guesser has some two hundred tries a minute and not more.
_BROWSER, _OWN_TRIES, _BROWSERS = "attnviz_browser", 3, 60


class PasswordLogin:
    """Login with a password, which is compared in constant time. Too many attempts are answered 429."""

    def __init__(self, settings: Settings, secret: str, telemetry: Telemetry) -> None:
        self._known = {STUDENT: settings.class_password, TEACHER: settings.teacher_password}
        self._signer = URLSafeTimedSerializer(secret, salt=_COOKIE)
        self._browsers = URLSafeTimedSerializer(secret, salt=_BROWSER)
        self._is_secure = settings.is_tls or settings.public_address.startswith("https:")
        self._cookie_path = settings.cookie_path
        self._tries = Buckets(_TRIES / _MINUTE, _TRIES)
        self._all_tries = new_bucket(_EVERYBODYS_TRIES / _MINUTE, _EVERYBODYS_TRIES)
        self._own_tries = Buckets(_OWN_TRIES / _MINUTE, _OWN_TRIES)
        self._new_browsers = Buckets(_BROWSERS / _MINUTE, _BROWSERS)
        self._telemetry = telemetry

    def role(self, cookies: Mapping[str, str]) -> str:
        """Return the role in the cookie if this server signed it within the last `_HOURS`; "" otherwise."""
        said = _unsign(self._signer, cookies.get(_COOKIE, ""))
        return said if said in (STUDENT, TEACHER) else ""

    async def page(self, request: Request) -> Response:
        """Answer `/login` with the form, or with the result of an attempt."""
        there = local_path(request.query_params.get("next", "/"))
        if request.method == "POST":
            return await self._try_password(request, there)
        answer = _form(there)
        if not self._browser(request):
            await self._name_browser(address_of(request.scope), answer)
        return answer

    async def _try_password(self, request: Request, there: str) -> Response:
        if not await self._may_try(request):
            self._telemetry.count_refusal("tries")
            seconds = round(_MINUTE / _TRIES) + 1
            return _form(there, f"Too many tries: wait {seconds} seconds.", status=429, retry_after=seconds)
        try:
            typed = await _read_password(request)
        except ValueError as refusal:
            return _form(there, str(refusal), status=413)
        except (TimeoutError, ClientDisconnect):
            return _form(there, "The password came too slowly. Please try again.", status=408)
        role = self._role_of(typed)
        if not role:
            self._telemetry.count_refusal("password")
            return _form(there, "That is not the password.", status=403)
        answer = redirect(request.scope, there)
        self._set_cookie(answer, _COOKIE, self._signer.dumps(role))
        return answer

    async def _may_try(self, request: Request) -> bool:
        """Check whether a request may try a password, and count the attempt.

        Attempts count against the limits of the address and of all addresses together. If those are used up, they count
        against the browser's own limit, so that one attacker does not lock out a whole school.
        """
        shared = self._tries.bucket(address_of(request.scope)), self._all_tries
        browser = self._browser(request)
        own = (self._own_tries.bucket(browser),) if browser else ()
        for buckets in filter(None, (shared, own)):
            if all(bucket.has_capacity() for bucket in buckets):
                for bucket in buckets:
                    await bucket.acquire()
                return True
        return False

    def _browser(self, request: Request) -> str:
        """Return the name that this server gave a browser in a cookie; "" if the browser has no such cookie."""
        return _unsign(self._browsers, request.cookies.get(_BROWSER, ""))

    async def _name_browser(self, address: str, answer: Response) -> None:
        """Set a cookie with a new name for a browser, unless its address has received many recently."""
        names = self._new_browsers.bucket(address)
        if names.has_capacity():
            await names.acquire()
            self._set_cookie(answer, _BROWSER, self._browsers.dumps(secrets.token_hex(8)))

    def _set_cookie(self, answer: Response, name: str, value: str | bytes) -> None:
        answer.set_cookie(
            name,
            str(value),
            max_age=_HOURS * 3600,
            path=self._cookie_path,
            httponly=True,
            samesite="lax",
            secure=self._is_secure,
        )

    async def logout(self, request: Request) -> Response:
        """Answer `/logout`, and delete the cookie."""
        answer = redirect(request.scope, "/login")
        answer.delete_cookie(_COOKIE, self._cookie_path)
        return answer

    def _role_of(self, typed: str) -> str:
        """Return the role of a typed password; "" for a wrong one.

        All passwords are compared even after a match, so that the duration reveals nothing.
        """
        digest = _digest(typed)
        found = ""
        for role, password in self._known.items():
            is_it = hmac.compare_digest(digest, _digest(password))
            found = role if is_it and password else found
        return found


def _unsign(signer: URLSafeTimedSerializer, cookie: str) -> str:
    """Return a cookie's text if this server signed it within the last `_HOURS`; "" otherwise."""
    try:
        return str(signer.loads(cookie, max_age=_HOURS * 3600))
    except BadSignature:
        return ""


async def _read_password(request: Request) -> str:
    """Read the password from the form.

    Raises ValueError if the form is too long, and TimeoutError if it is too slow.
    """
    body = b""
    async with asyncio.timeout(_SECONDS):
        async for piece in request.stream():
            body += piece
            if len(body) > _LONGEST:
                raise ValueError("This text is too long to be a password.")
    is_form = request.headers.get("content-type", "").startswith(_KIND)
    fields = parse_qs(body.decode("utf-8", "replace")) if is_form else {}
    return fields.get("password", [""])[0]


def _digest(text: str) -> bytes:
    """Hash a text, so that all passwords are compared as digests of the same length."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _form(there: str, error: str = "", *, status: int = 200, retry_after: int = 0) -> Response:
    action = html.escape(f"login?{urlencode({'next': there})}", quote=True)
    form = (
        f"<form method='post' action='{action}'><label for='password'>Password of your class</label>"
        "<input id='password' name='password' type='password' autocomplete='current-password' required autofocus> "
        "<button>Enter</button></form>"
    )
    answer = plain_page("attnviz", *([paragraph(error, is_error=True)] if error else []), form, status=status)
    if retry_after:
        answer.headers["Retry-After"] = str(retry_after)
    return answer
