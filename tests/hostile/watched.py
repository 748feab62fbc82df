"""The cost of an attack to a server and to its other visitors."""

import resource
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest

from tests.hostile import raw

ROOM = 3 << 30  # bytes of address space beyond what a server has: an attack that works ends it, and not the machine
LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="memory and addresses of loopback as Linux has them")


class Watched:
    """A context around an attack: `grown` is what memory has grown by at most, in megabytes, and `longest` how many
    seconds another visitor has waited for an answer and for a websocket.
    """

    def __init__(self, address: str, pid: int) -> None:
        self._address, self._pid = address, pid
        self._is_over = threading.Event()
        self._others = threading.Thread(target=self._ask)
        self.grown = self.longest = 0.0

    def __enter__(self) -> Self:
        size = self._status("VmSize")
        resource.prlimit(self._pid, resource.RLIMIT_AS, (size + ROOM, resource.RLIM_INFINITY))
        Path(f"/proc/{self._pid}/clear_refs").write_text("5")  # sets the highest mark back
        self._before = self._status("VmRSS")
        self._others.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._others.join()
        self.grown = (self._status("VmHWM") - self._before) / (1 << 20)

    def _ask(self) -> None:
        while not self._is_over.is_set():
            started = time.monotonic()
            try:
                with urllib.request.urlopen(f"{self._address}/healthz", timeout=120):
                    pass
                with raw.open_websocket(self._address, "127.0.0.1"):
                    pass
                self.longest = max(self.longest, time.monotonic() - started)
            except (OSError, AssertionError):
                self.longest = float("inf")
            self._is_over.wait(0.3)

    def _status(self, field: str) -> int:
        """Read a field of the process's status, in bytes."""
        lines = Path(f"/proc/{self._pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def open_files(pid: int) -> int:
    """How many files a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def comes_true(is_so: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds; return whether it did in time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True
