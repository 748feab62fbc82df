"""Login by OpenID Connect, end to end: a provider in a process of its own, the server in another, and a client between
them that does what a browser does.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import InvalidStatus

from attnviz.server.login.oidc import OidcLogin
from attnviz.server.settings import Settings
from tests.browser.served.process import start_server, status
from tests.browser.server import free_port
from tests.websocket.visitor import Visitor

USERS = {
    "pupil": {"email": "Pupil@school.example", "email_verified": True},
    "teacher": {"email": "head@school.example"},
    "stranger": {"email": "me@school.example.evil"},
    "claimant": {"email": "head@school.example", "email_verified": False},
}
PAGE = {"Accept": "text/html"}
SECRET = "0123456789abcdef" * 2
COOKIE = "_streamlit_user"


class Instance(NamedTuple):
    """The server's address, and its printed lines."""

    address: str
    log: Path


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    port = free_port()
    users = [text for name, said in USERS.items() for text in ("--user-claims", json.dumps({"sub": name, **said}))]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "-p", str(port), *users]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 30
        while not status(f"{address}/.well-known/openid-configuration") and time.monotonic() < deadline:
            time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def instance(provider, tmp_path_factory) -> Iterator[Instance]:
    port, log = free_port(), tmp_path_factory.mktemp("oidc") / "log"
    said = {
        "LOGIN": "oidc", "OIDC_METADATA": f"{provider}/.well-known/openid-configuration", "OIDC_CLIENT": "attnviz",
        "OIDC_SECRET": "shared", "COOKIE_SECRET": SECRET, "PUBLIC_ADDRESS": f"http://127.0.0.1:{port}",
        "ALLOWED": "@school.example", "TEACHERS": "head@school.example", "OPEN_MODELS": "teachers",
    }  # fmt: skip
    with start_server(log, {f"ATTNVIZ_{name}": value for name, value in said.items()}, port=port) as (address, _):
        yield Instance(address, log)


@contextmanager
def log_in(
    instance: Instance, who: str, there: str = "/masks?src=I+love+you."
) -> Iterator[tuple[httpx.Client, httpx.Response]]:
    """Provide a client that has asked for a page, gone to the provider, said who it is there, and come back."""
    with httpx.Client(base_url=instance.address, follow_redirects=True, headers=PAGE, timeout=20) as client:
        page = client.get(there)
        assert page.url.path == "/login"
        form = client.get(re.findall(r"href='(auth/login[^']+)'", page.text)[0])
        yield client, client.post(form.url, data={"sub": who})


def cookies(client: httpx.Client) -> str:
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar if cookie.name.startswith("_st"))


def test_a_listed_user_logs_in_and_reaches_the_requested_page(instance) -> None:
    with log_in(instance, "pupil") as (client, page):
        assert (page.status_code, page.url.path, page.url.query) == (200, "/masks", b"src=I+love+you.")
        with Visitor(instance.address, headers={"Cookie": cookies(client)}) as visitor:
            shown = visitor.open("heads", {"src": "I love you.", "to": "fr"})
            assert not shown.exceptions
            assert "heads" in shown.widgets
        client.get("/auth/logout", follow_redirects=False)
        assert client.get("/masks").url.path == "/login"


@pytest.mark.parametrize("who", ["stranger", "claimant"])
def test_an_unlisted_user_is_refused_in_a_sentence(instance, who) -> None:
    with log_in(instance, who) as (client, page):
        assert page.url.path == "/login"
        assert client.get("/heads").url.path == "/login"
        if who == "stranger":
            assert "me@school.example.evil is not on the list of this server" in client.get("/login").text
        refuses(instance, cookies(client))


def refuses(instance: Instance, cookie: str) -> None:
    """Check that no websocket is opened."""
    visitor = Visitor(instance.address, headers={"Cookie": cookie})
    with pytest.raises(InvalidStatus):
        visitor.__enter__()


def test_a_teacher_may_open_other_models_and_a_student_may_not(instance, tmp_path) -> None:
    said = {}
    for who in ("teacher", "pupil"):
        with (
            log_in(instance, who) as (client, _),
            Visitor(instance.address, headers={"Cookie": cookies(client)}) as visitor,
        ):
            said[who] = " ".join(visitor.open("heads", {"src": "Hello.", "model": str(tmp_path)}).alerts)
    assert "does not offer" in said["pupil"]
    assert "does not offer" not in said["teacher"]
    assert "config.json" in said["teacher"]


@pytest.mark.parametrize("tampered", ["another's hand", "a letter", "nothing"])
def test_a_tampered_cookie_lets_nobody_in(instance, tampered) -> None:
    with log_in(instance, "pupil") as (client, _):
        good = client.cookies[COOKIE]
    claim = json.dumps({"is_logged_in": True, "origin": instance.address, "email": "head@school.example"})
    bad = {
        "another's hand": create_signed_value("another secret of thirty-two chars", COOKIE, claim).decode(),
        "a letter": good[:-3] + ("A" if good[-3] != "A" else "B") + good[-2:],
        "nothing": "",
    }[tampered]
    with httpx.Client(base_url=instance.address, headers=PAGE, cookies={COOKIE: bad}) as stranger:
        assert stranger.get("/heads").headers["Location"].startswith("./login")
    refuses(instance, f"{COOKIE}={bad}")


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ({"email": "head@school.example"}, "teacher"),
        ({"email": "HEAD@School.Example"}, "teacher"),
        ({"email": "pupil@school.example"}, "student"),
        ({"email": "pupil@notschool.example"}, ""),
        ({"email": "pupil@school.example", "email_verified": False}, ""),
        ({"email": "pupil@school.example", "is_logged_in": False}, ""),
        ({"email": "pupil@school.example", "origin": "https://evil.example"}, ""),
        ({}, ""),
    ],
)
def test_a_cookie_s_account_says_the_role(said, role) -> None:
    settings = Settings(
        login="oidc",
        public_address="https://attn.example",
        allowed=("@school.example",),
        teachers=("head@school.example",),
    )
    claim = {"is_logged_in": True, "origin": "https://attn.example"} | said
    cookie = create_signed_value(SECRET, COOKIE, json.dumps(json.dumps(claim))[1:-1].replace('\\"', '"')).decode()
    assert OidcLogin(settings, SECRET).role({COOKIE: cookie}) == role


def test_the_provider_s_secret_is_in_no_log(instance) -> None:
    log = instance.log.read_text(encoding="utf-8")
    assert "shared" not in log
    assert SECRET not in log
