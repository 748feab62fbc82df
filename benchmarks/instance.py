"""An instance of its own for a load, one server or a cluster of several fronts, and the memory that it takes."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.browser.served.process import start_server
from tests.cluster.running import running_cluster

# The load says itself where its visitors come from, as a proxy would: each has an address of its own.
_SETTINGS = {"ATTNVIZ_PROXIES": "127.0.0.1", "ATTNVIZ_MODELS": "", "ATTNVIZ_LOGIN": "none"}
_UNBOUNDED = {f"ATTNVIZ_{who}_{what}": "1000" for who in ("SESSION", "ADDRESS") for what in ("RATE", "BURST")}


@dataclass(frozen=True)
class Instance:
    """An instance: the address that visitors open, the process that takes signals, and the processes that answer."""

    address: str
    process: int
    fronts: int
    log: Path
    pids: Callable[[], list[int]]

    def memory(self) -> float:
        """Count the bytes of all its processes; shared pages count once."""
        return sum(map(_bytes_of, self.pids()))

    def empty(self) -> None:
        """Empty its caches, and wait until that is done. Raises TimeoutError."""
        told, until = self._count_emptied(), time.monotonic() + 30
        os.kill(self.process, signal.SIGUSR1)
        while self._count_emptied() < told + max(1, self.fronts):
            if time.monotonic() > until:
                raise TimeoutError("the caches were not emptied within 30 s")
            time.sleep(0.1)

    def _count_emptied(self) -> int:
        return self.log.read_text(encoding="utf-8").count('"event": "emptied"')


@contextmanager
def instance(fronts: int = 0, memory_share: float = 0.4, *, is_fair: bool = True) -> Iterator[Instance]:
    """Start one server (`fronts` 0), or HAProxy with so many behind it; `memory_share` is for the caches of all
    together. Without `is_fair` one visitor may ask as fast as it is answered.
    """
    settings = _SETTINGS | {"ATTNVIZ_MEMORY_SHARE": str(memory_share)} | ({} if is_fair else _UNBOUNDED)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        if fronts:
            with running_cluster(log, fronts, settings) as running:
                yield Instance(running.address, running.process.pid, fronts, log, lambda: running.pids)
        else:
            with start_server(log, settings) as (address, process):
                yield Instance(address, process.pid, 0, log, lambda: [process.pid])


def _bytes_of(pid: int) -> float:
    """Count the bytes of one process: its own pages, and its part of those that it shares."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return 1024.0 * int(line.split()[1])
    return 0.0
