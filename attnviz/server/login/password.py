"""The simple login: one password for a class, and perhaps another for its teachers."""

import hashlib
import hmac
import html
from collections.abc import Mapping
from urllib.parse import urlencode

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from attnviz.server.fair_use import Buckets, address_of, bucket_of
from attnviz.server.login.door import STUDENT, TEACHER, local_path
from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import Settings
from attnviz.server.telemetry import Telemetry

_COOKIE, _HOURS = "attnviz_role", 12
_LONGEST = 4096  # bytes of what the form sends
# Tries at a password: of one address (a class sits behind one), and of all together.
_TRIES, _EVERYBODYS_TRIES, _MINUTE = 40, 200, 60.0


class PasswordLogin:
    """Compares in constant time, and answers 429 to who tries too often."""

    def __init__(self, settings: Settings, secret: str, telemetry: Telemetry) -> None:
        self._known = {STUDENT: settings.class_password, TEACHER: settings.teacher_password}
        self._signer = URLSafeTimedSerializer(secret, salt=_COOKIE)
        self._is_secure = settings.is_tls or settings.public_address.startswith("https:")
        self._tries = Buckets(_TRIES / _MINUTE, _TRIES)
        self._all_tries = bucket_of(_EVERYBODYS_TRIES / _MINUTE, _EVERYBODYS_TRIES)
        self._telemetry = telemetry

    def role(self, cookies: Mapping[str, str]) -> str:
        """What the cookie says, if it was signed here and lately."""
        try:
            said = self._signer.loads(cookies.get(_COOKIE, ""), max_age=_HOURS * 3600)
        except BadSignature:
            return ""
        return said if said in (STUDENT, TEACHER) else ""

    async def page(self, request: Request) -> Response:
        """The form, or what came of it."""
        there = local_path(request.query_params.get("next", "/"))
        if request.method != "POST":
            return _form(there)
        tries = self._tries.of(address_of(request.scope))
        if not (tries.has_capacity() and self._all_tries.has_capacity()):
            self._telemetry.refused("tries")
            seconds = round(_MINUTE / _TRIES) + 1
            return _form(there, f"Too many tries: wait {seconds} seconds.", status=429, retry_after=seconds)
        await tries.acquire()
        await self._all_tries.acquire()
        if int(request.headers.get("content-length") or _LONGEST + 1) > _LONGEST:
            return _form(there, "That is longer than any password.", status=413)
        role = self._role_of(str((await request.form()).get("password", "")))
        if not role:
            self._telemetry.refused("password")
            return _form(there, "That is not the password.", status=403)
        answer = RedirectResponse(there, 303)
        cookie = self._signer.dumps(role)
        age = _HOURS * 3600
        answer.set_cookie(_COOKIE, str(cookie), max_age=age, httponly=True, samesite="lax", secure=self._is_secure)
        return answer

    async def left(self, request: Request) -> Response:
        """The cookie goes."""
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(_COOKIE)
        return answer

    def _role_of(self, typed: str) -> str:
        """Every known password is compared, whatever the first one says: the time tells nothing."""
        digest = _digest(typed)
        found = ""
        for role, password in self._known.items():
            is_it = hmac.compare_digest(digest, _digest(password))
            found = role if is_it and password else found
        return found


def _digest(text: str) -> bytes:
    """Of one length, whatever the text's is."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _form(there: str, error: str = "", *, status: int = 200, retry_after: int = 0) -> Response:
    action = html.escape(f"/login?{urlencode({'next': there})}", quote=True)
    form = (
        f"<form method='post' action='{action}'><label for='password'>Password of your class</label>"
        "<input id='password' name='password' type='password' autocomplete='current-password' required autofocus> "
        "<button>Enter</button></form>"
    )
    answer = plain_page("attnviz", *([paragraph(error, is_error=True)] if error else []), form, status=status)
    if retry_after:
        answer.headers["Retry-After"] = str(retry_after)
    return answer
