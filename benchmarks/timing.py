"""Time things side by side, so that whatever else the machine does falls on all of them alike."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles


def interleaved(tasks: Mapping[str, Callable[[], object]], *, runs: int, warm_up: int = 3) -> dict[str, list[float]]:
    """Seconds of each run of each task; every round runs all of them, beginning with another one each time."""
    names = list(tasks)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(warm_up + runs):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            started = time.perf_counter()
            tasks[name]()
            if turn >= warm_up:
                seconds[name].append(time.perf_counter() - started)
    return seconds


def ratio(slower: list[float], base: list[float]) -> float:
    """The median over rounds of one task's time divided by the other's."""
    return median(one / other for one, other in zip(slower, base, strict=True))


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that `percent` of them do not exceed."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]
