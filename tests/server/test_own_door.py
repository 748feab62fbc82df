"""`attnviz run` answers its own origin with its token, and nothing else of this machine; in a process of its own."""

import http.client
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect
from websockets.exceptions import InvalidStatus

from tests.browser import chromium
from tests.browser.server import ROOT, free_port
from tests.websocket.visitor import Visitor

PATIENCE = 120_000  # milliseconds


class Dashboard(NamedTuple):
    """A dashboard that was started: its port, the address that it printed, and the cookie that this gives."""

    port: int
    printed: str
    cookie: str

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"


def ask(port: int, path: str, **headers: str) -> http.client.HTTPResponse:
    """Ask as a browser does, under the name that `Host` says."""
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    asking.request("GET", path, headers={"Host": f"127.0.0.1:{port}", "Accept": "text/html"} | headers)
    answer = asking.getresponse()
    answer.read()
    asking.close()
    return answer


@contextmanager
def start(folder: Path, **environment: str) -> Iterator[tuple[int, str]]:
    """Start `attnviz run`: its port, and the address that it prints."""
    port, log = free_port(), folder / "log"
    command = (sys.executable, "-m", "attnviz", "run", "--no-browser", "--port", str(port))
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=out, stderr=out)
    try:
        yield port, wait_for_address(log, process)
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    with start(tmp_path_factory.mktemp("own")) as (port, printed):
        first = ask(port, printed.removeprefix(f"http://127.0.0.1:{port}"))
        assert (first.status, first.getheader("location")) == (303, "/")
        cookie = first.getheader("set-cookie", "")
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        yield Dashboard(port, printed, cookie.partition(";")[0])


def wait_for_address(log: Path, process: subprocess.Popen) -> str:
    """Return the address that a start prints."""
    until = time.monotonic() + 90
    while not (found := re.search(r"attnviz: (http://\S+)", log.read_text(encoding="utf-8"))):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        assert time.monotonic() < until, log.read_text(encoding="utf-8")
        time.sleep(0.1)
    return found[1]


def test_who_has_the_token_sees_the_page_and_its_policy(dashboard: Dashboard) -> None:
    page = ask(dashboard.port, "/heads?src=I+love+you.", Cookie=dashboard.cookie)
    assert page.status == 200
    assert "frame-ancestors 'none'" in page.getheader("content-security-policy", "")
    assert page.getheader("x-frame-options") == "DENY"
    headers = {"Cookie": dashboard.cookie, "Origin": f"http://{dashboard.host}"}
    with Visitor(f"http://{dashboard.host}", headers=headers, patience=120) as visitor:
        shown = visitor.open("heads", {"src": "I love you.", "to": "fr"})
    assert not shown.exceptions
    assert "heads" in shown.widgets


def test_an_address_keeps_what_it_asks_for_and_loses_its_token(dashboard: Dashboard) -> None:
    token = urlsplit(dashboard.printed).query
    first = ask(dashboard.port, f"/heads?src=a%26b&{token}")
    assert first.getheader("location") == "/heads?src=a%26b"
    linked = ask(dashboard.port, "/heads?src=cat", Host=f"localhost:{dashboard.port}")
    assert linked.getheader("location") == f"http://{dashboard.host}/heads?src=cat"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Cookie": "attnviz_{port}=guessed"},
        {"Host": "rebound.example", "Cookie": "{cookie}"},
        {"Host": "rebound.example:{port}", "Origin": "http://rebound.example:{port}", "Cookie": "{cookie}"},
        {"Origin": "http://127.0.0.1:9", "Cookie": "{cookie}"},
        {"Origin": "http://localhost:{port}", "Cookie": "{cookie}"},
        {"Origin": "null", "Cookie": "{cookie}"},
    ],
    ids=["no token", "a wrong token", "another name", "a name of its own", "another port", "another host", "no origin"],
)
def test_others_are_answered_with_neither_page_nor_websocket(dashboard: Dashboard, headers: dict[str, str]) -> None:
    said = {name: text.format(port=dashboard.port, cookie=dashboard.cookie) for name, text in headers.items()}
    assert ask(dashboard.port, "/", **said).status in {400, 403}
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "streamlit"}
    assert ask(dashboard.port, "/_stcore/stream", **upgrade, **key, **said).status in {400, 403}


def test_a_websocket_without_the_token_is_refused(dashboard: Dashboard) -> None:
    with pytest.raises(InvalidStatus), Visitor(f"http://{dashboard.host}"):
        pass


PAINTED = "[data-attnviz-painted]"


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """Serve a folder at an origin of this machine. A page that Playwright itself answers would not do: Chromium takes
    that page's address for a public one, and lets no public page show one of this machine.
    """
    serve = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.browser
@pytest.mark.skipif(chromium.find() is None, reason="no browser found: `make test` gets one where it can")
def test_the_embed_code_shows_its_picture_in_a_site_that_is_named_and_in_no_other(
    tmp_path: Path, browser: Browser
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    with (
        site(folder) as named, site(folder) as other, closing(browser.new_context()) as visitor,
        start(tmp_path, ATTNVIZ_EMBEDDERS=named) as (_, printed),
    ):  # fmt: skip
        visitor.set_default_timeout(PATIENCE)
        visitor.grant_permissions(["clipboard-read", "clipboard-write"])
        page = visitor.new_page()
        page.goto(printed.replace("/?", "/heads?src=I+love+you.&to=fr&"))
        expect(page.locator(PAINTED)).to_be_visible(timeout=PATIENCE)
        page.get_by_role("button", name="Embed").click()
        page.wait_for_function("async () => (await navigator.clipboard.readText()).startsWith('<iframe')")
        code = page.evaluate("navigator.clipboard.readText()")
        (folder / "index.html").write_text(code, encoding="utf-8")
        page.goto(named)
        expect(page.frame_locator("iframe").locator(PAINTED)).to_be_visible(timeout=PATIENCE)
        with page.expect_event("framenavigated", lambda frame: frame.url.startswith("chrome-error:")):
            page.goto(other)
        expect(page.frame_locator("iframe").locator(PAINTED)).to_have_count(0)
