"""What switching a head off costs a visitor: from the key on its switch until the new translation is painted."""

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from playwright.sync_api import Page

from benchmarks.browser import chromium_here, open_page
from benchmarks.model import sentences_of
from benchmarks.report import Row
from tests.browser.server import dashboard

LENGTH, HEADS, WARM_UP = 13, 20, 3
AIM = 200  # milliseconds


def rows() -> Iterator[Row]:
    """One server, warm; each head is switched off by itself, and on again before the next."""
    text = next(islice(sentences_of(LENGTH, to="fr"), 1))
    with (
        tempfile.TemporaryDirectory() as folder,
        dashboard(Path(folder) / "log") as address,
        chromium_here() as browser,
    ):
        page = open_page(browser, f"{address}/causes?{urlencode({'src': text, 'to': 'fr'})}")
        times = [_switched(page, at) for at in range(HEADS + WARM_UP)][WARM_UP:]
        yield Row(
            f"a head switched off until its translation is painted, {LENGTH} tokens, p50", median(times), "ms", AIM
        )
        page.context.close()


def _switched(page: Page, at: int) -> float:
    """Milliseconds; then the head is on again."""
    page.wait_for_function("attnvizWatch.idle()")
    page.locator(".switch").nth(3 * at).focus()
    page.evaluate("attnvizWatch.fromKey('Enter')")
    page.keyboard.press("Enter")
    took = page.evaluate("attnvizWatch.result")["picture"]
    page.keyboard.press("Escape")
    page.locator(".switch[aria-checked=false]").first.wait_for(state="detached")
    page.wait_for_function("attnvizWatch.idle() && !attnvizWatch.root().querySelector('[data-waits]')")
    return took
