"""The Heads component on a page of its own, which all tests open in one tab."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.browser import server

WINDOW: ViewportSize = {"width": 1440, "height": 900}


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("heads") / "app.log"
    environment = {"PYTHONPATH": str(server.ROOT), "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
    with server.dashboard(log, environment, script="tests/heads/component/heads_app.py") as address:
        yield address


@pytest.fixture(scope="session")
def tab(browser: Browser, address: str) -> Iterator[tuple[Page, list[str]]]:
    """Provide a tab, and what scripts of its pages have raised."""
    raised: list[str] = []
    context = browser.new_context(base_url=address)
    context.set_default_timeout(60_000)
    context.on("weberror", lambda error: raised.append(str(error.error)))
    yield context.new_page(), raised
    context.close()


@pytest.fixture
def visit(tab: tuple[Page, list[str]]) -> Iterator[Callable[..., Page]]:
    """Open the page with a query and wait until the component is painted; no script may raise meanwhile."""
    page, raised = tab
    raised.clear()

    def open_page(query: str = "", *, viewport: ViewportSize = WINDOW) -> Page:
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme="light")
        page.mouse.move(0, 0)
        page.goto(f"/?{query}")
        page.locator(".avz[data-attnviz-painted]").wait_for()
        return page

    yield open_page
    page.goto("about:blank")
    assert not raised, raised
