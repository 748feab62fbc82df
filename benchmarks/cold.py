"""The cost of a first visit to the browser: processor time of its main thread until the page is there and still.

`python -m benchmarks.cold http://127.0.0.1:8501 http://127.0.0.1:8502` compares dashboards that run already, such as
this one and an older commit's: their visits take turns, so that other work on the machine falls on both.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.browser import chromium_here
from benchmarks.report import Row, table
from tests.browser.server import dashboard

VISITS = 10
PATH = "/heads?src=I+love+you.&to=fr"
STILL = (
    "[data-testid='stApp'][data-test-script-state='notRunning'][data-test-connection-state='CONNECTED'] "
    "[data-attnviz-painted]:not([data-attnviz-painted=''])"
)


def rows() -> Iterator[Row]:
    """Measure the least of some visits to a warm server."""
    with tempfile.TemporaryDirectory() as folder, dashboard(Path(folder) / "log") as address:
        yield from compare([address])


def compare(addresses: Sequence[str]) -> Iterator[Row]:
    """Measure the least of each address's visits: other work on the machine only adds to them."""
    found: dict[str, list[float]] = {address: [] for address in addresses}
    with chromium_here() as browser:
        for visit in range(VISITS + 1):
            for address in addresses:
                spent = _visit(browser, address)
                if visit:  # the first warms the server up
                    found[address].append(spent)
    for address, spent in found.items():
        name = f" of {address}" if len(found) > 1 else ""
        yield Row(f"a first visit{name}: main thread, least of {VISITS}", min(spent), "ms")


def _visit(browser: Browser, address: str) -> float:
    """Measure the main thread's milliseconds for a visitor with an empty cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{address}{PATH}")
    page.locator(STILL).first.wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    told = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return 1e3 * told["TaskDuration"]


if __name__ == "__main__":
    print(table(list(compare(sys.argv[1:]))))
