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


@pytest.fixture(scope="session")
def shared_visitor(browser: Browser, address: str) -> Iterator[Callable[..., tuple[BrowserContext, Heard]]]:
    """Find the visitor with these options whom all tests share.

    A browser that has loaded the dashboard's scripts before takes two thirds of the time for a page.
    """
    made: dict[str, tuple[BrowserContext, Heard]] = {}

    def find(**options: Any) -> tuple[BrowserContext, Heard]:
        name = repr(sorted(options.items()))
        if name not in made:
            heard = Heard()
            made[name] = heard.context(browser, address, **options), heard
        return made[name]

    yield find
    for context, _ in made.values():
        context.close()


def forget_all(page: Page) -> None:
    """Take away what a test has left in the browser of a shared visitor."""
    page.context.set_offline(False)
    page.goto("/_stcore/health")
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.context.clear_cookies()


@pytest.fixture
def new_tab(shared_visitor: Callable[..., tuple[BrowserContext, Heard]], tolerated_errors: tuple[str, ...]) -> Iterator:
    """`new_tab(**options)` opens a tab with a history of its own, of 1440x900 and light colours where the options say
    nothing else. Nothing of earlier tests is left in the browser.
    """
    opened: list[tuple[Page, Heard]] = []

    def make(*, viewport: ViewportSize = WINDOW, color_scheme: Any = "light", **options: Any) -> Page:
        touch = {name: options.pop(name) for name in ("has_touch", "is_mobile") if name in options}
        context, heard = shared_visitor(**touch)
        heard.forget()
        page = context.new_page()
        opened.append((page, heard))
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme, **options)
        return page

    yield make
    for page, _ in opened:
        forget_all(page)
        page.close()
    for _, heard in opened:
        heard.require_nothing_strange(tolerated_errors)


@pytest.fixture
def fresh_page(new_tab: Callable[..., Page]) -> Page:
    """Open another tab: for tests that count history or requests, or add a script to each document."""
    return new_tab()


@pytest.fixture(scope="session")
def tab(shared_visitor: Callable[..., tuple[BrowserContext, Heard]]) -> tuple[Page, Heard]:
    """Open the one tab of all tests that ask for `page`."""
    context, heard = shared_visitor()
    return context.new_page(), heard


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
    forget_all(page)
    heard.require_nothing_strange()


@pytest.fixture
def settle() -> Callable[[Page], None]:
    """Provide `wait_until_settled`."""
    return wait_until_settled
