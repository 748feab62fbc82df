"""Every head of a 12 x 12 model on 128 tokens in one picture: our Whole model tab beside bertviz's view of the same."""

import importlib
import importlib.util
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import torch
from playwright.sync_api import Error, Page, Route

import attnviz
from attnviz.heads.every_head.every_head import SIDE, whole_model_payload
from benchmarks.browser import chromium_here
from benchmarks.peers import save_gpt2_small
from benchmarks.report import Row
from tests.browser.server import dashboard

LAYERS, HEADS, TOKENS = 12, 12, 128
RUNS, PATIENCE = 5, 120  # seconds for one picture of bertviz
# Lines that each draws, the second where the first does not finish: it shows one layer at a time.
VIEWS = {"model_view": LAYERS * HEADS * TOKENS**2, "head_view": HEADS * TOKENS**2}


def rows() -> Iterator[Row]:
    """Measure from the data's arrival in the browser until it is painted, and the bytes that are sent for it."""
    size = len(_payload())
    ours = _ours()
    at = f"whole model, {LAYERS}x{HEADS} heads, {TOKENS} tokens"
    yield Row(f"{at}: painted", ours, "ms")
    yield Row(f"{at}: sent", size / 1e3, "kB")
    if not all(map(importlib.util.find_spec, ("bertviz", "mpld3", "nbclassic"))):
        return
    seen = list(_theirs())
    for each in seen:
        what = f"{at}: bertviz's {each.view}"
        yield Row(f"{what} {'painted' if each.finished else 'not painted yet, given up after'}", each.seconds, "s")
        yield Row(f"{what}, sent", each.size / 1e3, "kB")
    last = seen[-1]
    against = f"{at}: ours beside bertviz's {last.view}"
    sooner = "faster" if last.finished else "faster, at the least: it was given up"
    yield Row(f"{against}, {sooner}", 1e3 * last.seconds / ours, "x", 40, "at least")
    yield Row(f"{against}, fewer bytes", last.size / size, "x", 18, "at least")


def _attention() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [(3 * torch.randn(1, HEADS, TOKENS, TOKENS)).softmax(-1) for _ in range(LAYERS)]


def _payload() -> bytes:
    trace = attnviz.from_tensors(_attention(), [f"w{at}" for at in range(TOKENS)])
    view = {"kind": "encoder_self", "layer": 0, "head": 0, "mini": "map", "open": False}
    thumbs = trace.thumbnails("encoder_self", side=SIDE)
    size = (TOKENS, TOKENS)
    return whole_model_payload(thumbs, "encoder_self", kinds=trace.kinds, size=size, view=view).pack()


def _ours() -> float:
    """Measure by the dashboard's own clock, from the component's data to its last stroke, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "gpt2-small"
        save_gpt2_small(model)
        text = ("the old man who lives in this small house " * TOKENS)[:TOKENS]  # a byte a token
        query = urlencode({"model": str(model), "src": text, "new": "0", "tab": "model"})
        with dashboard(Path(folder) / "log") as address, chromium_here() as browser:
            times = []
            for _ in range(RUNS):
                page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
                page.set_default_timeout(60_000)
                page.goto(f"{address}/heads?{query}")
                root = page.locator("[data-attnviz-painted]")
                root.wait_for()
                times.append(float(root.get_attribute("data-attnviz-ms") or "nan"))
                page.context.close()
    return median(times)


@dataclass(frozen=True)
class _BertvizView:
    """A view of bertviz: seconds until it was painted or given up, and the bytes of its page."""

    view: str
    finished: bool
    seconds: float
    size: int


def _theirs() -> Iterator[_BertvizView]:
    """Open bertviz's views in turn, up to the first that finishes."""
    bertviz = importlib.import_module("bertviz")

    attention, tokens = _attention(), [f"w{at}" for at in range(TOKENS)]
    for view, lines in VIEWS.items():
        html = getattr(bertviz, view)(attention, tokens, html_action="return").data
        with tempfile.TemporaryDirectory() as folder, chromium_here() as browser:
            file = Path(folder) / "view.html"
            file.write_text(html, encoding="utf-8")
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.route("https://**/*", _library)
            seconds = _seconds_until_painted(page, file.as_uri(), lines)
        yield _BertvizView(view, seconds is not None, PATIENCE if seconds is None else seconds, len(html.encode()))
        if seconds is not None:
            return


def _seconds_until_painted(page: Page, address: str, lines: int) -> float | None:
    """Measure from opening the page until its lines are there and a frame later; None after `PATIENCE` seconds, or if
    the browser gives up by itself.
    """
    page.set_default_timeout(1e3 * PATIENCE)
    started = time.perf_counter()
    try:
        page.goto(address, wait_until="commit")
        page.wait_for_function(
            "(lines) => document.getElementsByTagName('line').length >= lines"
            " && new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
            arg=lines,
        )
    except Error:
        return None
    return time.perf_counter() - started


def _library(route: Route) -> None:
    """Serve the libraries that bertviz takes from the network from packages on this machine."""
    static = _folder("nbclassic") / "static" / "components"
    files = {
        "require.min.js": static / "requirejs" / "require.js",
        "jquery.min.js": static / "jquery" / "jquery.min.js",
        "d3.min.js": _folder("mpld3") / "js" / "d3.v5.min.js",
    }
    if path := files.get(route.request.url.rsplit("/", 1)[-1]):
        route.fulfill(path=path, content_type="text/javascript")
    else:
        route.abort()


def _folder(package: str) -> Path:
    """Find the folder of an installed package without importing it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None  # `rows` has checked it
    return Path(next(iter(spec.submodule_search_locations or ())))
