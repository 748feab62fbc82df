"""The Heads component on a page of its own, and visitors of that page."""

import pytest
from playwright.sync_api import Page

from tests.browser import server


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    log = tmp_path_factory.mktemp("heads") / "app.log"
    environment = {"PYTHONPATH": str(server.ROOT), "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
    with server.dashboard(log, environment, script="tests/widgets/heads/heads_app.py") as address:
        yield address


@pytest.fixture
def visit(browser, address):
    """Open the page with a query and wait until the component is painted; no script may raise meanwhile."""
    contexts, raised = [], []

    def open_page(query: str = "", **options) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | options))
        contexts.append(context)
        context.set_default_timeout(20_000)
        context.on("weberror", lambda error: raised.append(str(error.error)))
        page = context.new_page()
        page.goto(f"{address}/?{query}")
        page.locator(".avz[data-attnviz-painted]").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not raised, raised
