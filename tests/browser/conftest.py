"""One dashboard for all browser tests; a new visitor (context and page) for each."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import chromium, server

SETTLED = "[data-testid='stApp'][data-test-script-state='notRunning'][data-test-connection-state='CONNECTED']"
PATIENCE = 60_000  # milliseconds: the first page waits for the model, on a machine that may be busy
expect.set_options(timeout=PATIENCE / 2)
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
    """Where the dashboard notes every address outside this machine that it asks for."""
    log = tmp_path_factory.mktemp("dashboard") / "outbound.log"
    log.touch()
    return log


@pytest.fixture(scope="session")
def address(outbound: Path) -> Iterator[str]:
    """A running dashboard, `http://127.0.0.1:…`."""
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
def tolerated() -> tuple[str, ...]:
    """Messages that scripts of a page may raise: none, but where a file names one of Streamlit's own."""
    return ()


@pytest.fixture
def visitor(browser: Browser, address: str, tolerated: tuple[str, ...]) -> Iterator[Callable[..., BrowserContext]]:
    """Make visitors: contexts that share nothing.

    The test fails if one of them asks for anything outside 127.0.0.1, or if a script of its pages raises.
    """
    asked: list[str] = []
    raised: list[str] = []
    contexts: list[BrowserContext] = []

    def make(**options) -> BrowserContext:
        settings = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light", "base_url": address}
        context = browser.new_context(**settings | options)
        context.set_default_timeout(PATIENCE)
        context.on("request", lambda request: asked.append(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: asked.append(socket.url)))
        context.on("weberror", lambda error: raised.append(str(error.error)))
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()
    strangers = sorted({url for url in asked if not HOME.match(url)})
    assert not strangers, f"requests that leave 127.0.0.1: {strangers}"
    raised = [error for error in raised if not any(message in error for message in tolerated)]
    assert not raised, f"scripts of the page raised: {raised}"


@pytest.fixture
def page(visitor: Callable[..., BrowserContext]) -> Page:
    """A page of 1440x900 in light colours."""
    return visitor().new_page()


@pytest.fixture
def settled() -> Callable[[Page], None]:
    """Wait until a page is connected and its script has run without an exception."""

    def wait(page: Page) -> None:
        page.locator(SETTLED).wait_for()
        expect(page.get_by_test_id("stException")).to_have_count(0)

    return wait
