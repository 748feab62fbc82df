"""`serve` behind a real nginx at a path of another site: nginx keeps the path in its requests, or strips it.

nginx has the lines that docs/how-to/hosting.md offers.
"""

import re
import subprocess
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser import chromium
from tests.browser.served.process import start_server, status
from tests.browser.server import ROOT
from tests.cluster.conftest import PATIENCE
from tests.cluster.running import free_ports

BASE = "/course/attnviz"
PASSWORD = "correct horse"
_CONFIGURATION = """daemon off; pid {folder}/nginx.pid; error_log stderr; user root;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{kept}; {location} }}
    server {{ listen 127.0.0.1:{stripped}; {stripping} }}
}}
"""


@pytest.fixture(scope="module")
def sites(nginx: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Provide the addresses of both sites: nginx keeps the path at one, and strips it at the other."""
    folder = tmp_path_factory.mktemp("nginx")
    given = {
        "ATTNVIZ_BASE_PATH": BASE, "ATTNVIZ_PROXIES": "127.0.0.1", "ATTNVIZ_LOGIN": "password",
        "ATTNVIZ_CLASS_PASSWORD": PASSWORD, "ATTNVIZ_DATABASE": str(folder / "classes.sqlite"),
    }  # fmt: skip
    with start_server(folder / "log", given) as (server, _):
        kept = free_ports(2)
        location = _offered_location().replace("http://127.0.0.1:8501", server)
        stripping = location.replace(f"proxy_pass {server}", f"proxy_pass {server}/")
        file = folder / "nginx.conf"
        text = _CONFIGURATION.format(
            folder=folder, kept=kept, stripped=kept + 1, location=location, stripping=stripping
        )
        file.write_text(text, encoding="utf-8")
        with (folder / "nginx.log").open("w") as out:
            process = subprocess.Popen((nginx, "-p", folder, "-c", file), stdout=out, stderr=out)
        try:
            found = {"kept": f"http://127.0.0.1:{kept}", "stripped": f"http://127.0.0.1:{kept + 1}"}
            while not all(status(f"{site}{BASE}/readyz") == 200 for site in found.values()):
                assert process.poll() is None, (folder / "nginx.log").read_text()
            yield found
        finally:
            process.terminate()
            process.wait(timeout=30)


def _offered_location() -> str:
    text = (ROOT / "docs" / "how-to" / "hosting.md").read_text(encoding="utf-8")
    found = re.search(r"```nginx\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("how", ["kept", "stripped"])
def test_no_answer_leaves_the_path(sites: dict[str, str], how: str) -> None:
    with httpx.Client(base_url=sites[how], follow_redirects=True, headers={"Accept": "text/html"}) as client:
        for path in ("", "/", "/heads/?src=I+love+you.", "/heads?src=I+love+you.", "/logout"):
            answer = client.get(f"{BASE}{path}")
            assert (answer.status_code, answer.url.path) == (200, f"{BASE}/login"), path
        answer = client.post(answer.url, data={"password": PASSWORD}, params={"next": "/heads?src=a"})
        assert (answer.status_code, answer.url.raw_path) == (200, f"{BASE}/heads?src=a".encode())
        opened = client.get(f"{BASE}/heads/?src=I+love+you.")
        assert opened.url.raw_path == f"{BASE}/heads?src=I+love+you.".encode()
        assert len(opened.history) == 1
        assert client.get(BASE).url.path == f"{BASE}/"


@pytest.mark.parametrize("how", ["kept", "stripped"])
def test_a_browser_gets_its_picture_below_the_path(
    sites: dict[str, str], how: str, request: pytest.FixtureRequest
) -> None:
    if chromium.find() is None:
        pytest.skip("no browser found: `make test` gets one where it can")
    browser: Browser = request.getfixturevalue("browser")
    context = browser.new_context(base_url=sites[how])
    context.set_default_timeout(PATIENCE)
    asked: list[str] = []
    context.on("request", lambda one: asked.append(one.url))
    try:
        page = context.new_page()
        page.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:")))
        page.goto(f"{BASE}/heads/?src=I+love+you.&to=fr")
        page.get_by_role("textbox").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.locator(".strip")).to_contain_text("love", timeout=PATIENCE)
        page.get_by_role("link", name="Masks", exact=True).click()
        expect(page).to_have_url(re.compile(f"^{sites[how]}{BASE}/masks\\?src=I"))
        assert [url for url in asked if url.startswith("http") and not url.startswith(sites[how] + BASE)] == []
    finally:
        context.close()
