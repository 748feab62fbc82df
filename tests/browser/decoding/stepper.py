"""The Decoding page in a browser: opened, and what its component shows."""

import json

from playwright.sync_api import Page

from tests.browser.at_rest import wait_until_settled

PATH = "/decoding?src=I%20love%20you.&to=fr"
ROOT = ".stepper[data-attnviz-painted]"


def open_decoding(page: Page, path: str = PATH) -> Page:
    """Open the page, and wait until its verdict is there too: until then, each step that is computed moves the page."""
    page.goto(path)
    page.locator(ROOT).wait_for(timeout=60_000)
    wait_until_settled(page)
    return page


def view(page: Page) -> dict:
    """Read what the component shows: step, layer and head."""
    return json.loads(page.locator(ROOT).get_attribute("data-attnviz-view") or "{}")


def last_step(page: Page) -> int:
    return int(page.get_by_role("slider", name="Step").get_attribute("max") or 0)


def verdict(page: Page) -> str:
    return page.locator("[data-verdict]").get_attribute("data-verdict") or ""
