"""`python -m attnviz cluster` as a process of its own, for tests and benchmarks."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.served.process import status
from tests.browser.server import ROOT


@dataclass(frozen=True)
class RunningCluster:
    """A cluster that is ready: where it listens, its supervisor, and where its log is."""

    port: int
    process: subprocess.Popen
    log: Path

    @property
    def address(self) -> str:
        """What visitors open."""
        return f"http://127.0.0.1:{self.port}"

    def front(self, name: str) -> int:
        """Return the process of a front, by its name; 0 where there is none just now."""
        for pid in self.pids:
            with suppress(OSError):
                if f"ATTNVIZ_FRONT={name}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    return pid
        return 0

    @property
    def pids(self) -> list[int]:
        """Its processes: fronts and HAProxy."""
        pid = self.process.pid
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()))

    def log_lines(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of its log of one kind."""
        lines = (line for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("{"))
        return [line for line in map(json.loads, lines) if line["event"] == event]

    def wait(self, event: str, times: int = 1, seconds: float = 90) -> None:
        """Wait until its log has a line so many times. Raises TimeoutError."""
        until = time.monotonic() + seconds
        while len(self.log_lines(event)) < times:
            if time.monotonic() > until:
                raise TimeoutError(f"not said {times} times: {event}\n{self.log.read_text(encoding='utf-8')}")
            time.sleep(0.1)


@contextmanager
def running_cluster(
    log: Path, fronts: int = 2, environment: Mapping[str, str] | None = None
) -> Iterator[RunningCluster]:
    """Provide a cluster of which every front is ready. What it prints goes to `log`, `environment` sets it."""
    port = free_ports(1 + fronts)
    given = {"OMP_WAIT_POLICY": "passive", "ATTNVIZ_MODELS": "", **dict(environment or {})}
    command = (sys.executable, "-m", "attnviz", "cluster", "--fronts", str(fronts), "--port", str(port))
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | given, stdout=out, stderr=subprocess.STDOUT)
    made = RunningCluster(port, process, log)
    try:
        made.wait("ready", 1 + fronts)
        while any(status(f"http://127.0.0.1:{port + 1 + n}/readyz") != 200 for n in range(fronts)):
            time.sleep(0.1)
        time.sleep(1.5)  # until HAProxy has seen it, too
        yield made
    finally:
        process.terminate()
        try:
            process.wait(timeout=45)
        except subprocess.TimeoutExpired:
            process.terminate()  # asked twice it waits for nothing
            process.wait()


def free_ports(count: int) -> int:
    """Return the first of so many ports of 127.0.0.1 in a row that nobody listens on."""
    for first in range(20_000 + os.getpid() % 10_000, 32_000, count):
        if not any(_is_taken(port) for port in range(first, first + count)):
            return first
    raise RuntimeError("no ports in a row are free")


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
