"""Run a widget's modules in the browser, and return their results."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from attnviz.hosts import registry
from attnviz.kit.bundle import PACKAGE, Widget, join_modules, script_constants, widget_pages

Calls = Callable[..., Any]


@pytest.fixture(scope="module")
def empty_page(browser: Browser) -> Iterator[Page]:
    """One page for all tests of a file: opening one takes longer than most of them."""
    page = browser.new_page()
    page.goto("about:blank")
    yield page
    page.close()


@pytest.fixture(scope="module")
def run(empty_page: Page) -> Callable[[str, str], Any]:
    """`run(module, act)`: what the function `act` gives for a module joined to one expression."""
    return lambda module, act: empty_page.evaluate(f"async () => ({act})({module})")


@pytest.fixture(scope="module")
def module(empty_page: Page) -> Callable[[str], Calls]:
    """`module(file)(act, given)`: what a function of JavaScript gives for a module's exports and for what it is given.

    Files are named from `attnviz/`.
    """

    def load(file: str) -> Calls:
        name = json.dumps(file)
        folder = PACKAGE / file.split("/js/")[0]
        widget = next((name for name, page in widget_pages().items() if page.parent == folder), folder.name)
        drawn_by = registry.widget(widget) if widget in widget_pages() else Widget(widget, PACKAGE / file)
        script = join_modules(PACKAGE / file, script_constants(drawn_by))
        empty_page.evaluate(f"() => {{ (globalThis.modules ??= {{}})[{name}] = {script}; }}")
        return lambda act, argument=None: empty_page.evaluate(
            f"(given) => ({act})(globalThis.modules[{name}], given)", argument
        )

    return load
