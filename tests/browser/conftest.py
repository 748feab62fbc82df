"""One dashboard and one tab for all browser tests, and visitors for those that need more than a clean page."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from tests.browser import chromium, server
from tests.browser.at_rest import wait_until_settled

PATIENCE = 60_000  # milliseconds: the first page waits for the model, on a machine that may be busy
WINDOW: ViewportSize = {"width": 1440, "height": 900}
# What may be asked for: the dashboard, and what a page makes itself.
HOME = re.compile(r"^((https?|wss?)://127\.0\.0\.1[:/]|data:|blob:|about:|chrome-error:)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test in this folder needs a browser: it carries the marker, and a reason to be skipped without one.

    Each but the walk is tried once more where it failed: on a busy machine a page may be drawn again between two of its
    steps. A fault fails both times; `--force-reruns 0` shows the first. Which were tried again, and why, is said at the
    end of the run.
    """
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    missing = bool(here) and chromium.find() is None
    for item in here:
        item.add_marker(pytest.mark.browser)
        if Path(__file__).parent / "walk" not in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))
        if missing:
            item.add_marker(pytest.mark.skip(reason="no browser found: `make test` gets one where it can"))


@pytest.fixture(scope="session")
def outbound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file in which the dashboard notes every requested address outside this machine."""
    log = tmp_path_factory.mktemp("dashboard") / "outbound.log"
    log.touch()
    return log


@pytest.fixture(scope="session")
def address(outbound: Path) -> Iterator[str]:
    """Provide a running dashboard, `http://127.0.0.1:…`."""
    hook = str(Path(__file__).parent / "outbound")
    environment = {
        "PYTHONPATH": hook,
        "ATTNVIZ_OUTBOUND_LOG": str(outbound),
        "ATTNVIZ_DATABASE": str(outbound.with_name("classes.sqlite")),
        "ATTNVIZ_LESSONS": str(Path(__file__).parent / "classes" / "lessons"),
        "OMP_WAIT_POLICY": "passive",
    }
    with server.dashboard(outbound.with_name("dashboard.log"), environment) as address:
        yield address


@pytest.fixture
def tolerated_errors() -> tuple[str, ...]:
    """Messages that scripts of a page may raise: none, but where a file names one of Streamlit's own."""
    return ()


@dataclass
class Heard:
    """Requests of pages, and errors of their scripts."""

    asked: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)

    def context(self, browser: Browser, address: str, **options: Any) -> BrowserContext:
        """Make a visitor, of a window of 1440x900 and light colours where the options say nothing else."""
        settings = {"viewport": WINDOW, "color_scheme": "light", "base_url": address}
        context = browser.new_context(**settings | options)
        context.set_default_timeout(PATIENCE)
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: self.asked.append(socket.url)))
        context.on("weberror", lambda error: self.raised.append(str(error.error)))
        return context

    def forget(self) -> None:
        """Forget all requests and errors so far."""
        self.asked.clear()
        self.raised.clear()

    def require_nothing_strange(self, tolerated: tuple[str, ...] = ()) -> None:
        """Fail if a page asked for anything outside 127.0.0.1, or a script raised anything that is not tolerated."""
        strangers = sorted({url for url in self.asked if not HOME.match(url)})
        assert not strangers, f"requests that leave 127.0.0.1: {strangers}"
        raised = [error for error in self.raised if not any(message in error for message in tolerated)]
        assert not raised, f"scripts of the page raised: {raised}"


@pytest.fixture
def visitor(
    browser: Browser, address: str, tolerated_errors: tuple[str, ...]
) -> Iterator[Callable[..., BrowserContext]]:
    """Make visitors: contexts that share nothing."""
    heard = Heard()
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        contexts.append(heard.context(browser, address, **options))
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()
    heard.require_nothing_strange(tolerated_errors)


@pytest.fixture
def fresh_page(visitor: Callable[..., BrowserContext]) -> Page:
    """Open a page of a new visitor: for tests that count history or requests, or add a script to each document."""
    return visitor().new_page()


@pytest.fixture(scope="session")
def tab(browser: Browser, address: str) -> Iterator[tuple[Page, Heard]]:
    """Open the one tab of all tests that ask for `page`: loading a page into it takes two thirds of the time."""
    heard = Heard()
    context = heard.context(browser, address)
    yield context.new_page(), heard
    context.close()


@pytest.fixture
def page(tab: tuple[Page, Heard]) -> Iterator[Page]:
    """Provide a page of 1440x900 in light colours, without anything that a test before has left in the browser."""
    page, heard = tab
    page.set_viewport_size(WINDOW)
    page.emulate_media(color_scheme="light")
    page.mouse.move(0, 0)
    heard.forget()
    yield page
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.goto("/_stcore/health")
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.context.clear_cookies()
    heard.require_nothing_strange()


@pytest.fixture
def settle() -> Callable[[Page], None]:
    """Provide `wait_until_settled`."""
    return wait_until_settled
