"""TLS with a certificate of our own: a cluster as a browser meets it, `serve` by itself, and what deploy/ offers."""

import re
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from attnviz.__main__ import main
from tests.browser import chromium
from tests.browser.server import ROOT, free_port
from tests.cluster.conftest import PATIENCE
from tests.cluster.running import RunningCluster, free_ports, running_cluster

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a certificate of 127.0.0.1 and localhost, and its key."""
    folder = tmp_path_factory.mktemp("site")
    certificate, key = folder / "site.crt", folder / "site.key"
    subprocess.run(
        ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", certificate, "-keyout", key),
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.fixture(scope="module")
def redirect_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def tls_cluster(
    haproxy: str, site: tuple[Path, Path], redirect_port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningCluster]:
    """Provide a cluster of one front that speaks TLS, and asks for a password."""
    given = {
        "ATTNVIZ_CERTIFICATE": str(site[0]), "ATTNVIZ_KEY": str(site[1]), "ATTNVIZ_REDIRECT_PORT": str(redirect_port),
        "ATTNVIZ_LOGIN": "password", "ATTNVIZ_CLASS_PASSWORD": PASSWORD,
    }  # fmt: skip
    with running_cluster(tmp_path_factory.mktemp("tls") / "log", 1, given) as running:
        yield running


@pytest.fixture
def client(tls_cluster: RunningCluster, site: tuple[Path, Path]) -> Iterator[httpx.Client]:
    """Make an HTTP client that trusts this certificate and no other."""
    trust = ssl.create_default_context(cafile=str(site[0]))
    with httpx.Client(verify=trust, base_url=f"https://127.0.0.1:{tls_cluster.port}", timeout=30) as made:
        yield made


def test_every_cookie_is_secure_and_browsers_are_told_to_keep_to_https(client: httpx.Client) -> None:
    answer = client.post("/login", data={"password": PASSWORD})
    cookies = {one.partition("=")[0]: one for one in answer.headers.get_list("set-cookie")}
    assert {"attnviz_front", "attnviz_role"} <= set(cookies)
    assert all("Secure" in one and "HttpOnly" in one for one in cookies.values()), cookies
    page = client.get("/heads", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert page.http_version == "HTTP/1.1"  # of which websockets are made


def test_plain_http_leads_to_the_same_page_under_https(tls_cluster: RunningCluster, redirect_port: int) -> None:
    answer = httpx.get(f"http://127.0.0.1:{redirect_port}/heads?src=I+love+you.&to=fr")
    assert answer.status_code == 301
    assert answer.headers["Location"] == f"https://127.0.0.1:{tls_cluster.port}/heads?src=I+love+you.&to=fr"


def test_a_browser_gets_its_picture_over_a_websocket_under_tls(
    tls_cluster: RunningCluster, request: pytest.FixtureRequest
) -> None:
    if chromium.find() is None:
        pytest.skip("no browser found: `make test` gets one where it can")
    browser: Browser = request.getfixturevalue("browser")
    context = browser.new_context(ignore_https_errors=True, base_url=f"https://127.0.0.1:{tls_cluster.port}")
    context.set_default_timeout(PATIENCE)
    try:
        page, sockets = context.new_page(), list[str]()
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.goto("/heads?src=I+love+you.&to=fr")
        page.get_by_role("textbox").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.locator(".strip")).to_contain_text("love", timeout=PATIENCE)
        assert sockets
        assert all(one.startswith("wss://") for one in sockets)
        is_secure = {one.get("name"): one.get("secure") for one in context.cookies()}
        assert is_secure.keys() >= {"attnviz_role", "attnviz_browser", "attnviz_front"}
        assert all(is_secure[name] for name in is_secure if name.startswith("attnviz"))
    finally:
        context.close()


@pytest.mark.parametrize(
    ("command", "given", "said"),
    [
        ("cluster", {"CERTIFICATE": "no.crt", "KEY": "no.key"}, "certificate names no.crt, and there is no such file."),
        ("cluster", {"CERTIFICATE": "", "REDIRECT_PORT": "80"}, "redirect_port sends browsers to https, which needs "),
        ("serve", {"REDIRECT_PORT": "{free}"}, "redirect_port is for `cluster`"),
        ("cluster", {"REDIRECT_PORT": "{taken}"}, "Port {taken} of 127.0.0.1 cannot be listened on: "),
        ("cluster", {"REDIRECT_PORT": "{free}", "PORT": "{free}"}, "redirect_port is {free}, the port of the pages"),
        (
            "cluster",
            {"REDIRECT_PORT": "{free}", "METRICS_PORT": "{free}"},
            "are both {free}. Please choose a different port for each.",
        ),
        ("cluster", {"PORT": "{taken}"}, "Port {taken} of 127.0.0.1 cannot be listened on: "),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(
    command: str, given: dict, said: str, tls_cluster: RunningCluster, site: tuple[Path, Path], monkeypatch, capsys
) -> None:
    ports = {"taken": tls_cluster.port, "free": free_port()}
    defaults = {
        "PORT": str(free_ports(2)),
        "CERTIFICATE": str(site[0]),
        "KEY": "" if "CERTIFICATE" in given else site[1],
    }
    for name, value in (defaults | given).items():
        monkeypatch.setenv(f"ATTNVIZ_{name}", str(value).format(**ports))
    assert main([command]) == 2
    error = capsys.readouterr().err
    assert said.format(**ports) in error
    assert error.count("\n") == 1


def test_haproxy_takes_the_lines_for_tls_that_are_offered_for_several_machines(
    haproxy: str, site: tuple[Path, Path], tmp_path: Path
) -> None:
    text = (ROOT / "deploy" / "machines" / "haproxy.cfg").read_text(encoding="utf-8")
    both = tmp_path / "site.pem"
    both.write_bytes(site[0].read_bytes() + site[1].read_bytes())
    text, lines = re.subn(r"(?m)^    #   (bind|http-request) ", r"    \1 ", text)
    assert lines == 3
    file = tmp_path / "haproxy.cfg"
    file.write_text(text.replace("/etc/haproxy/site.pem", str(both)), encoding="utf-8")
    done = subprocess.run((haproxy, "-c", "-q", "-f", file), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
