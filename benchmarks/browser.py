"""The waits of a visitor in a browser on this machine: a new sentence, another head, another row, a cold page."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.model import sentences_of, text_of
from benchmarks.report import Row
from benchmarks.timing import percentile
from tests.browser import chromium
from tests.browser.server import dashboard

SENTENCES, COLD_PAGES, CHOICES, WARM_UP = 30, 5, 40, 5
WATCH = Path(__file__).with_name("watch.js")


def rows() -> Iterator[Row]:
    """Measure on one warm server, in a window of 1440x900."""
    sentences = list(islice(sentences_of(16, to="fr"), SENTENCES + WARM_UP))
    with (
        tempfile.TemporaryDirectory() as folder,
        dashboard(Path(folder) / "log") as address,
        chromium_here() as browser,
    ):
        start = f"{address}/heads?{urlencode({'src': 'I love you.', 'to': 'fr'})}"
        page = open_page(browser, start)
        yield from _sentences(page, sentences)
        yield from _choices(page, "16 tokens")
        page.context.close()
        yield Row("cold page, server warm", median(_cold(browser, start) for _ in range(COLD_PAGES)), "ms", 2000)
        for length in (64, 250):
            page = open_page(browser, f"{address}/heads?{urlencode({'src': text_of(length), 'to': 'fr'})}")
            yield from _choices(page, f"{length} tokens in")
            page.context.close()


@contextmanager
def chromium_here() -> Iterator[Browser]:
    """Start the browser that the tests use. Raises RuntimeError if none is installed."""
    path = chromium.find()
    if path is None:
        raise RuntimeError("No browser found: `make test` gets one where it can.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(chromium.ARGUMENTS))
        yield browser
        browser.close()


def open_page(browser: Browser, address: str) -> Page:
    """Open an address as a new visitor and wait until its picture is painted."""
    page = new_page(browser)
    page.goto(address)
    page.evaluate("attnvizWatch.firstPicture()")
    page.wait_for_function("attnvizWatch.idle()")
    return page


def new_page(browser: Browser) -> Page:
    """Open an empty page of a new visitor, with nothing cached and `watch.js` in it."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(path=WATCH)
    return page


def _sentences(page: Page, sentences: list[str]) -> Iterator[Row]:
    times = [type_sentence(page, sentence) for sentence in sentences]
    # The first ones warm the server's and the browser's compilers up.
    everything = [time["everything"] for time in times[WARM_UP:]]
    yield Row(f"Enter to the picture, 16 tokens in and out, p50 of {len(everything)}", _p50(times), "ms")
    yield Row("Enter to everything painted, p50", median(everything), "ms", 200)
    yield Row("Enter to everything painted, p90", percentile(everything, 90), "ms", 260)


def type_sentence(page: Page, sentence: str) -> dict[str, float]:
    """Type a sentence; return the milliseconds from Enter to the picture, and to everything painted."""
    source = page.get_by_label("Source sentence")
    source.fill(sentence)
    page.evaluate("attnvizWatch.fromKey('Enter')")
    source.press("Enter")
    return page.evaluate("attnvizWatch.result")


def _p50(times: list[dict[str, float]]) -> float:
    return median(time["picture"] for time in times[WARM_UP:])


def _choices(page: Page, name: str) -> Iterator[Row]:
    heads = [_press(page, key) for key in ("ArrowRight", "ArrowLeft") * (CHOICES // 2)]
    pinned = [_press(page, key) for key in ("j",) * 10 + ("k",) * 8]
    yield Row(f"another head, {name}", median(heads), "ms", 16)
    yield Row(f"another row, {name}", median(pinned), "ms", 16)


def _press(page: Page, key: str) -> float:
    """Press a key after a person's pause; return the milliseconds until the drawing is finished."""
    page.wait_for_timeout(60)
    return page.evaluate("key => attnvizWatch.press(key)", key)


def _cold(browser: Browser, address: str) -> float:
    page = new_page(browser)
    page.goto(address, wait_until="commit")
    milliseconds = page.evaluate("attnvizWatch.firstPicture()")
    page.context.close()
    return milliseconds
