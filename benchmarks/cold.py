"""What a first visit costs the browser: processor time of its main thread until the page is there and still.

`python -m benchmarks.cold http://127.0.0.1:8501 http://127.0.0.1:8502` compares dashboards that run already, such as
this one and an older commit's: their visits take turns, so that whatever else the machine does falls on both.
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
    """The least of some visits to a server of ours, which is warm."""
    with tempfile.TemporaryDirectory() as folder, dashboard(Path(folder) / "log") as address:
        yield from compared([address])


def compared(addresses: Sequence[str]) -> Iterator[Row]:
    """A row an address: the least of its visits, since other work on the machine only adds to them."""
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
    """Milliseconds of the main thread for a visitor who has been nowhere."""
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
    print(table(list(compared(sys.argv[1:]))))
