"""Times of tasks that run in turn, so that other work on the machine falls on all of them alike."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles

_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def time_in_turn(
    tasks: Mapping[str, Callable[[], object]], *, runs: int, warm_up: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:  # fmt: skip
    """Measure the seconds of each run of each task; each round runs all of them, beginning with another task.

    `clock` may be `time.process_time` on a machine with other work.
    """
    names = list(tasks)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(warm_up + runs):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            started = clock()
            tasks[name]()
            if turn >= warm_up:
                seconds[name].append(clock() - started)
    return seconds


def ratio(slower: list[float], base: list[float]) -> float:
    """Compute the median over rounds of one task's time divided by the other's."""
    return median(one / other for one, other in zip(slower, base, strict=True))


def percentile(values: Sequence[float], percent: int) -> float:
    """Compute the value that `percent` of the values do not exceed."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def processor_seconds(pid: int) -> float:
    """Read how many seconds of processor time a process has used, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK
