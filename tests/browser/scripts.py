"""Modules of the widgets, loaded into an empty page: their pure parts are tested in the browser that runs them."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from attnviz.kit.bundle import PACKAGE, join_modules


def load(page: Page, file: str) -> Callable[..., Any]:
    """Open an empty page with the exports of a module, named from `attnviz/`, as `script`.

    What comes back evaluates a function of JavaScript there, with an argument if it takes one.
    """
    page.goto("about:blank")
    page.evaluate(f"() => {{ globalThis.script = {join_modules(PACKAGE / file)}; }}")
    return page.evaluate
