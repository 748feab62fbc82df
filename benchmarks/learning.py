"""The cost of the Learning page: a recording until it is drawn, an update of a live run on both sides, and the delay of
other visitors beside it.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median

from playwright.sync_api import Page

from attnviz.learning.live.runs import LiveView
from attnviz.learning.page.live import Piece, feed_payload
from attnviz.toys.experiment import Experiment
from attnviz.toys.run import TrainingRun
from benchmarks.browser import chromium_here, new_page, open_page, type_sentence
from benchmarks.model import sentences_of
from benchmarks.report import Row
from benchmarks.timing import processor_seconds, time_in_turn
from tests.browser import server

OPENED, RUNS = 9, 9
MOST_OPENING, MOST_UPDATE = 300, 2  # milliseconds
A_SECOND = 5  # updates that a browser shows of a live run
ANSWERS, MOST_BESIDE = 15, 1.3
LIVE = "/learning?task=twice&second=none&train=1&guess=open&seed="
# Notes how long each drawing of a live run took, as the component itself says.
NOTE = """() => { const root = attnvizWatch.root();
  window.attnvizDrawn = [];
  new MutationObserver(() => window.attnvizDrawn.push(Number(root.dataset.attnvizMs)))
    .observe(root, { attributeFilter: ["data-attnviz-ms"] }); }"""


def rows() -> Iterator[Row]:
    """Pack bytes in this process; measure the rest on a server and in a browser."""
    yield from _packing()
    with (
        tempfile.TemporaryDirectory() as folder,
        _dashboard(Path(folder) / "log") as (address, pid),
        chromium_here() as browser,
    ):
        page = new_page(browser)
        page.goto(f"{address}/learning")
        page.evaluate("attnvizWatch.firstPicture()")
        times = [_choose(page, at) for at in range(2, OPENED + 2)]
        yield Row("a recording, from its choice to the picture, p50", median(times), "ms", MOST_OPENING)
        other = open_page(browser, f"{address}/heads?src=I+love+you.&to=fr")
        yield from _live(page, other, address, pid)
        page.context.close()


def _packing() -> Iterator[Row]:
    moments = tuple(TrainingRun(Experiment("twice", steps=10)))
    piece = Piece(Experiment("twice"), LiveView("running", 0, moments[5:7]), 5)
    seconds = time_in_turn({"update": lambda: feed_payload([piece]).pack()}, runs=RUNS)
    yield Row("two moments of a live run packed", 1e3 * median(seconds["update"]), "ms", MOST_UPDATE)


def _choose(page: Page, at: int) -> float:
    """Choose an experiment of the menu; return the milliseconds from Enter to its picture."""
    page.wait_for_function("attnvizWatch.idle()")
    page.get_by_role("button", name="Experiments").click()
    for _ in range(at):
        page.keyboard.press("ArrowDown")
    page.evaluate("attnvizWatch.fromKey('Enter')")
    page.keyboard.press("Enter")
    return page.evaluate("attnvizWatch.result")["picture"]


def _live(page: Page, other: Page, address: str, pid: int) -> Iterator[Row]:
    """Watch a run for four seconds, alone and while another visitor types sentences."""
    sentences = list(islice(sentences_of(16, to="fr"), 3 * ANSWERS))
    for sentence in sentences[:ANSWERS]:  # warms up
        type_sentence(other, sentence)
    alone = median(type_sentence(other, sentence)["everything"] for sentence in sentences[ANSWERS : 2 * ANSWERS])
    idle = _processor_share(page, pid)
    _train(page, address)
    page.evaluate(NOTE)
    used = _processor_share(page, pid)
    drawn = page.evaluate("attnvizDrawn")
    _train(page, address)
    beside = median(type_sentence(other, sentence)["everything"] for sentence in sentences[2 * ANSWERS :])
    is_beside = page.get_by_text("is training").is_visible()
    yield Row("a live update in the browser, p50", median(drawn), "ms", MOST_UPDATE)
    yield Row(
        "a live update's CPU of the server beyond an idle one's", 1e3 * (used - idle) / A_SECOND, "ms", MOST_UPDATE
    )
    if is_beside:
        yield Row("another visitor's answer beside a live run, of one alone", beside / alone, "x", MOST_BESIDE)


def _train(page: Page, address: str) -> None:
    """Begin a run that is in no cache."""
    page.goto(f"{address}{LIVE}{time.monotonic_ns() // 1_000_000 % 90_000}")
    page.get_by_text("is training").wait_for()


def _processor_share(page: Page, pid: int) -> float:
    """Measure the seconds of processor time that the server uses in a second."""
    before, began = processor_seconds(pid), time.monotonic()
    page.wait_for_timeout(4_000)
    return (processor_seconds(pid) - before) / (time.monotonic() - began)


@contextmanager
def _dashboard(log: Path) -> Iterator[tuple[str, int]]:
    port = server.free_port()
    process = server.start(port, log)
    try:
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)
