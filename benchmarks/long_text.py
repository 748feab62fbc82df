"""1,024 tokens of a 12 x 12 model in a browser: the time of each tab to open, and to answer a key or a click."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from playwright.sync_api import Page

from benchmarks.browser import chromium_here, new_page
from benchmarks.peers import save_gpt2_small
from benchmarks.report import Row
from tests.browser.server import dashboard

TOKENS = 1024
TABS = {"heads": "Heads", "links": "Links", "model": "Whole model"}
FRAMES = 200  # milliseconds: longer needs a sign that something happens
ACT = """([name, act]) => {
  const root = attnvizWatch.root(), started = performance.now();
  const all = (found) => [...root.querySelectorAll(found)];
  const acts = {
    head: () => all(".square")[act + 1].click(),
    every: () => all("button").find((node) => node.textContent === "All").click(),
  };
  acts[name]();
  root.getBoundingClientRect();
  return performance.now() - started;
}"""


def rows() -> Iterator[Row]:
    """Open each tab on one server; the first one runs the model, too."""
    text = ("the old man who lives in this small house has a big red dog " * TOKENS)[:TOKENS]  # a byte a token
    with tempfile.TemporaryDirectory() as folder:
        save_gpt2_small(model := Path(folder) / "gpt2-small")
        with dashboard(Path(folder) / "log") as address, chromium_here() as browser:
            page = new_page(browser)
            page.set_default_timeout(180_000)
            start = f"{address}/heads?{urlencode({'model': str(model), 'new': '0'})}"
            page.goto(f"{start}&src=I+love+you.")  # the model is loaded
            page.evaluate("attnvizWatch.firstPicture()")
            for tab in ("model", "links", "heads"):
                page.goto(f"{start}&{urlencode({'src': text, 'tab': tab})}")
                opened = page.evaluate("attnvizWatch.firstPicture()") / 1e3
                more = ", the model's pass included" if tab == "model" else ""
                yield Row(f"{TABS[tab]}, {TOKENS} tokens: opened{more}", opened, "s")
                page.wait_for_function("attnvizWatch.idle()")
                yield from _acts(page, tab)


def _acts(page: Page, tab: str) -> Iterator[Row]:
    at = f"{TABS[tab]}, {TOKENS} tokens"
    if tab == "heads":
        keys = ("ArrowRight", "ArrowLeft") * 4
        yield Row(f"{at}: another head", median(_press(page, key) for key in keys), "ms", FRAMES)
    elif tab == "links":
        yield Row(f"{at}: another head's lines", _median(page, "head"), "ms", FRAMES)
        yield Row(f"{at}: the lines of 144 heads", _median(page, "every", 1), "ms", FRAMES)


def _press(page: Page, key: str) -> float:
    page.wait_for_timeout(60)
    return page.evaluate("key => attnvizWatch.press(key)", key)


def _median(page: Page, name: str, times: int = 6) -> float:
    """Measure the milliseconds until the component has drawn an action's result, with pauses between actions."""
    taken = []
    for act in range(times):
        page.wait_for_timeout(60)
        taken.append(page.evaluate(ACT, [name, act]))
    return median(taken)
