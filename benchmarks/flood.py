"""The waits of others while one visitor asks as fast as it can: over one connection, and over many of one address."""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from websockets.exceptions import WebSocketException

from benchmarks import visitors
from benchmarks.report import Row, table
from benchmarks.timing import percentile, processor_seconds
from tests.browser.served.process import start_server
from tests.browser.server import ROOT
from tests.websocket.visitor import Visitor

OTHERS, SECONDS, PAUSE = 10, 12.0, 0.02
CONNECTIONS = 20
_FLOODER = {"X-Forwarded-For": "203.0.113.1"}


def rows() -> Iterator[Row]:
    """Measure ten others, each of an address of its own, who think for one to two seconds."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"ATTNVIZ_PROXIES": "127.0.0.1", "ATTNVIZ_LOG": "false", "ATTNVIZ_MODELS": ""}
        with start_server(Path(folder) / "log", settings) as (address, process):
            _visit_beside(address, 4.0)
            yield from _measure((address, process.pid), "nobody floods", 0, None)
            yield from _measure((address, process.pid), "one floods over one connection", 1, 500)
            yield from _measure((address, process.pid), f"one floods over {CONNECTIONS} connections", CONNECTIONS, 500)


def _measure(server: tuple[str, int], name: str, connections: int, aim: float | None) -> Iterator[Row]:
    address, pid = server
    # A process of its own: else the others would wait for this one's interpreter, and not for the server.
    command = (sys.executable, "-m", "benchmarks.flood", address, str(connections), str(SECONDS + 2))
    flooder = subprocess.Popen(command, cwd=ROOT) if connections else None
    time.sleep(2.0)
    before = processor_seconds(pid)
    tally = _visit_beside(address, SECONDS)
    spent = processor_seconds(pid) - before
    if flooder is not None:
        flooder.wait()
    times = [1e3 * one for one in tally.seconds] or [0.0, 0.0]
    yield Row(f"{name}: the others' p50", percentile(times, 50), "ms")
    yield Row(f"{name}: the others' p95", percentile(times, 95), "ms", aim)
    yield Row(f"{name}: the server's CPU for each of the others' answers", 1e3 * spent / len(times), "ms")
    yield Row(f"{name}: errors, or another's answers", len(tally.errors) + len(tally.foreign), "", 0)


def _visit_beside(address: str, seconds: float) -> visitors.Tally:
    headers: list[Mapping[str, str]] = [{"X-Forwarded-For": f"198.51.100.{number}"} for number in range(OTHERS)]
    return visitors.run(address, visitors.Load(OTHERS, seconds, (1.0, 2.0)), headers)


def flood(address: str, connections: int, seconds: float) -> None:
    """Flood an address over several connections at once."""
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=_flood, args=(address, until)) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _flood(address: str, until: float) -> None:
    """Ask for sentence after sentence without reading the answers."""
    with suppress(TimeoutError, OSError, WebSocketException), Visitor(address, headers=_FLOODER) as visitor:
        visitor.open("heads", {"src": "I love you.", "to": "fr"})
        number = 0
        while time.monotonic() < until:
            number += 1
            visitor.tell_raw(visitor.rerun(visitor.state("src-shown", string_value=f"More and more, {number} times.")))
            visitor.pass_over(PAUSE)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(table(list(rows())))
    else:
        flood(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
