"""The Heads component on a page of plain HTML, and on a page of Streamlit's where Python has to answer."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Literal
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from attnviz.hosts.registry import PICTURES
from attnviz.kit.bundle import source
from attnviz.kit.picture import Picture
from attnviz.kit.wire import Payload
from tests.browser import server
from tests.heads.component import heads_app
from tests.kit.bare_page import BarePage

WINDOW: ViewportSize = {"width": 1440, "height": 900}


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """Provide a tab, and what scripts of its pages have raised."""
    raised: list[str] = []
    context = browser.new_context()
    context.set_default_timeout(60_000)
    context.on("weberror", lambda error: raised.append(str(error.error)))
    yield context.new_page(), raised
    context.close()


@pytest.fixture
def draw(tab: tuple[Page, list[str]]) -> Iterator[Callable[..., Page]]:
    """Draw a picture on a page of its own, until it is painted; no script may raise meanwhile."""
    page, raised = tab
    raised.clear()

    def make(
        picture: Picture, payload: Payload, *, viewport: ViewportSize = WINDOW, before: str = "() => {}",
        color_scheme: Literal["light", "dark"] = "light",
    ) -> Page:  # fmt: skip
        bare = BarePage(page, source(picture.drawn_by), payload, is_whole=True)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        page.evaluate(before)
        bare.set_theme("auto")
        bare.attach()
        return page

    yield make
    page.goto("about:blank")
    assert not raised, raised


@cache
def payload_for(query: str) -> Payload:
    asked = dict(parse_qsl(query))
    return heads_app.payload_of(asked, heads_app.view_of(asked))


@pytest.fixture
def visit(draw: Callable[..., Page]) -> Callable[..., Page]:
    """Draw the component that a query asks for."""
    return lambda query="", **options: draw(PICTURES["heads"], payload_for(query), **options)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("heads") / "app.log"
    environment = {"PYTHONPATH": str(server.ROOT), "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
    with server.dashboard(log, environment, script="tests/heads/component/heads_app.py") as address:
        yield address


@pytest.fixture
def visit_app(tab: tuple[Page, list[str]], address: str) -> Iterator[Callable[..., Page]]:
    """Open the page of Streamlit's with a query, until the component is painted; no script may raise meanwhile."""
    page, raised = tab
    raised.clear()
    page.set_viewport_size(WINDOW)
    page.emulate_media(color_scheme="light")
    page.mouse.move(0, 0)

    def open_page(query: str = "") -> Page:
        page.goto(f"{address}/?{query}")
        page.locator(".avz[data-attnviz-painted]").wait_for()
        return page

    yield open_page
    page.goto("about:blank")
    assert not raised, raised
