"""Below a path of a proxy, which keeps the path in its requests or strips it: both are answered alike."""

from urllib.parse import urljoin

import pytest

from attnviz.server.base_path import AddBasePath, StripBasePath, relative
from attnviz.server.login.door import Door
from attnviz.server.login.password import PasswordLogin
from attnviz.server.settings import Settings, read_settings
from attnviz.server.telemetry import Telemetry
from tests.server.asked import Client, ask, echo

BASE = "/course/attnviz"
PAGE = {"accept": "text/html"}
SITE = "https://school.example"


@pytest.mark.parametrize("path", ["/heads", f"{BASE}/heads"])
def test_streamlit_sees_the_base_path_and_our_middleware_does_not(path: str) -> None:
    seen: list[str] = []

    async def between(scope, receive, send) -> None:
        seen.append(scope["path"])
        await AddBasePath(echo, BASE)(scope, receive, send)

    answer = ask(StripBasePath(between, BASE), lambda client: client.get(path))
    assert seen == ["/heads"]
    assert answer.text.strip() == f"{BASE}/heads"


@pytest.mark.parametrize("base", ["", BASE])
@pytest.mark.parametrize(("opened", "left"), [("/heads/?src=a+b", "/heads?src=a+b"), ("/a/b/", "/a/b")])
def test_a_slash_behind_a_page_goes_and_the_path_before_it_stays(base: str, opened: str, left: str) -> None:
    for proxied in (opened, base + opened):
        answer = ask(StripBasePath(echo, base), lambda client, path=proxied: client.get(path))
        assert urljoin(SITE + BASE + opened, answer.headers["Location"]) == SITE + BASE + left


def test_the_base_path_itself_gets_a_slash_that_addresses_of_the_page_are_relative_to() -> None:
    answer = ask(StripBasePath(echo, BASE), lambda client: client.get(f"{BASE}?src=a"))
    assert urljoin(f"{SITE}{BASE}?src=a", answer.headers["Location"]) == f"{SITE}{BASE}/?src=a"


@pytest.mark.parametrize("prefix", ["", BASE])
def test_the_login_leads_below_the_base_path_and_its_cookies_stay_there(prefix: str) -> None:
    settings = Settings(login="password", class_password="correct horse", base_path=BASE)
    telemetry = Telemetry(is_logging=False)
    app = StripBasePath(Door(echo, PasswordLogin(settings, "x" * 32, telemetry), telemetry), BASE)

    async def work(client: Client):
        asked = await client.get(f"{prefix}/heads?src=a", headers=PAGE)
        there = urljoin(f"{SITE}{BASE}/heads?src=a", asked.headers["Location"])
        form = await client.get(there.removeprefix(SITE + BASE))
        action = form.text.partition("action='")[2].partition("'")[0].replace("&amp;", "&")
        posted = urljoin(there, action)
        answer = await client.post(prefix + posted.removeprefix(SITE + BASE), data={"password": "correct horse"})
        return posted, answer

    posted, answer = ask(app, work)
    assert urljoin(posted, answer.headers["Location"]) == f"{SITE}{BASE}/heads?src=a"
    assert f"Path={BASE};" in answer.headers["Set-Cookie"]


def test_an_address_is_relative_to_the_page_that_names_it() -> None:
    assert relative("/auth/login", "/login?next=/") == "../login?next=/"
    assert relative("/login", "/") == "./"


def test_the_base_path_is_read_with_and_without_slashes_and_from_streamlits_variable() -> None:
    def found(**environ: str) -> str:
        return read_settings(None, environ, {}).base_path

    assert found(ATTNVIZ_BASE_PATH="course/attnviz/") == BASE
    assert found(STREAMLIT_SERVER_BASE_URL_PATH="course/attnviz") == BASE
    assert found(STREAMLIT_SERVER_BASE_URL_PATH="other", ATTNVIZ_BASE_PATH="/course/attnviz") == BASE
    assert found() == found(ATTNVIZ_BASE_PATH="/") == ""


def test_visitors_open_the_public_address_below_the_base_path() -> None:
    for public in (SITE, f"{SITE}/", f"{SITE}{BASE}", f"{SITE}{BASE}/"):
        assert Settings(public_address=public, base_path=BASE).public_root == SITE + BASE
    assert Settings(base_path=BASE).public_root == ""
    assert Settings(public_address=SITE).public_root == SITE
