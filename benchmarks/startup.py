"""The time from `make run` on an installed environment to an input that can be used, and to the first map."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, expect

from benchmarks.browser import chromium_here, new_page
from benchmarks.report import Row
from tests.browser.server import ROOT, free_port, is_healthy

RUNS = 3


def rows() -> Iterator[Row]:
    """Measure medians with a browser that is open already, its cache empty each time."""
    with chromium_here() as browser:
        times = [_start(browser) for _ in range(RUNS)]
    yield Row("make run to a usable input", median(usable for usable, _ in times), "s", 3.5)
    yield Row("make run to the first map", median(mapped for _, mapped in times), "s", 5)


def _start(browser: Browser) -> tuple[float, float]:
    port, page = free_port(), new_page(browser)
    address = f"http://127.0.0.1:{port}"
    started = time.perf_counter()
    command = ("make", "--no-print-directory", "run", f"PORT={port}")
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        while not is_healthy(address):
            if server.poll() is not None or time.perf_counter() - started > 60:
                raise RuntimeError("`make run` did not bring up the dashboard.")
            time.sleep(0.02)
        page.goto(f"{address}/heads", wait_until="commit")
        expect(page.get_by_label("Source sentence")).to_be_editable(timeout=30_000)
        usable = time.perf_counter() - started
        page.evaluate("attnvizWatch.firstPicture()")
        return usable, time.perf_counter() - started
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=20)
        page.context.close()
