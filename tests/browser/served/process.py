"""The dashboard as many share it: `python -m attnviz serve` as a process of its own, for tests and benchmarks."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import ROOT, free_port, stop

_SERVE = ("-m", "attnviz", "serve")


@contextmanager
def start_server(
    log: Path, environment: Mapping[str, str] | None = None, *, port: int = 0, first: str = ""
) -> Iterator[tuple[str, subprocess.Popen]]:
    """Start a server: its address and process, once ready. What it prints goes to `log`, `environment` sets it, and
    `first` is Python that runs in its process before anything else.

    Raises RuntimeError with that text when it ends early or takes over three minutes.
    """
    port = port or free_port()
    given = {"OMP_WAIT_POLICY": "passive", "ATTNVIZ_PORT": str(port), **dict(environment or {})}
    with log.open("w", encoding="utf-8") as out:
        serve = ("-c", f"{first}\nfrom attnviz.__main__ import main\nmain(['serve'])") if first else _SERVE
        command = (sys.executable, *serve)
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | given, stdout=out, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(process, address, log)
        yield address, process
    finally:
        stop(process)


def _wait_until_ready(process: subprocess.Popen, address: str, log: Path) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        if status(f"{address}/readyz") == 200:
            return
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start:\n{log.read_text(encoding='utf-8')}")


def status(address: str, headers: Mapping[str, str] | None = None) -> int:
    """Return the status of a GET; 0 where nobody listens."""
    try:
        request = urllib.request.Request(address, headers=dict(headers or {}))
        with urllib.request.urlopen(request, timeout=2) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
