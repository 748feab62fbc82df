"""The dashboard as a process of its own, for browser tests and benchmarks."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    """Find a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def dashboard(
    log: Path, environment: Mapping[str, str] | None = None, *, script: str = "dashboard.py", first: str = ""
) -> Iterator[str]:
    """Run `streamlit run dashboard.py`, or another script, until the block ends; gives its address once it is healthy.

    `first` is Python that runs in its process before anything else. What it prints goes to `log`. Raises RuntimeError
    with that text when it ends early or takes over three minutes.
    """
    port = free_port()
    server = start(port, log, environment, script=script, first=first)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(server)


def stop(server: subprocess.Popen) -> None:
    """Ask a server to end, and kill it if it has not ended after a minute."""
    server.terminate()
    try:
        server.wait(timeout=60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def start(
    port: int,
    log: Path,
    environment: Mapping[str, str] | None = None,
    *,
    script: str = "dashboard.py",
    first: str = "",
) -> subprocess.Popen:
    """As `dashboard`, on a port of the caller's, who also ends it."""
    options = ("--server.port", str(port), "--server.headless", "true")
    streamlit = ("-c", f"{first}\nfrom streamlit.web.cli import main\nmain()") if first else ("-m", "streamlit")
    command = (sys.executable, *streamlit, "run", script, *options)
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | dict(environment or {}), stdout=out, stderr=subprocess.STDOUT
        )
    try:
        _wait_for_health(server, f"http://127.0.0.1:{port}", log)
    except RuntimeError:
        server.kill()
        raise
    return server


def _wait_for_health(server: subprocess.Popen, address: str, log: Path) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and server.poll() is None:
        if is_healthy(address):
            return
        time.sleep(0.1)
    raise RuntimeError(f"The dashboard did not start:\n{log.read_text(encoding='utf-8')}")


def is_healthy(address: str) -> bool:
    """Whether Streamlit at `address` answers its health check."""
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False
