"""Short visits one after the other, each with sentences of its own: the memory that they take, and that they leave.

`python -m benchmarks.short_visits --visits 500`; the exit status is 1 for a fault or a missed target.
"""

import argparse
import sys
import time

from attnviz.app.cache import budget
from benchmarks.instance import Instance, instance
from benchmarks.report import Row, table
from benchmarks.visitors import Load, run

_SHARE = 0.05  # of the memory, for each front's caches: little, so that they fill up
_AT_ONCE, _ANSWERS, _WARM_UP = 4, 2, 40
_LONGEST = 3600.0  # seconds
_SESSION = 32.0  # seconds after which a session without its browser is given up


def measure(visits: int, fronts: int) -> list[Row]:
    """Measure the memory of visits that open a page, type one sentence and leave."""
    share = _SHARE * max(1, fronts)
    caches = sum(budget.PARTS.values()) * min(budget.MOST * max(1, fronts), share * budget.memory())
    with instance(fronts, share) as started:
        _visit(started, _WARM_UP)
        before = _memory_when_empty(started)
        began = time.monotonic()
        faults = _visit(started, visits)
        seconds, full = time.monotonic() - began, started.memory()
        after = _memory_when_empty(started)
    return [
        Row("short visits", visits, ""),
        Row("visits a second", visits / seconds, "/s"),
        Row("errors, or another's answers", faults, "", 0),
        Row("memory before", before / 1e6, "MB"),
        Row("grown by", (full - before) / 1e6, "MB", round(caches / 1e6)),
        Row("left when the caches are emptied", (after - before) / 1e6, "MB", 30),
    ]


def _visit(started: Instance, visits: int) -> int:
    """Make so many visits, a few at once, and count their errors and wrong answers."""
    load = Load(_AT_ONCE, _LONGEST, answers=_ANSWERS, visits=visits // _AT_ONCE)
    tally = run(started.address, load, [{"X-Forwarded-For": f"198.51.100.{1 + n}"} for n in range(_AT_ONCE)])
    return len(tally.errors) + len(tally.foreign)


def _memory_when_empty(started: Instance) -> float:
    """Count the bytes of the instance once all sessions are over and the caches are empty."""
    time.sleep(_SESSION)
    _visit(started, _AT_ONCE)  # a session's end is noticed when another begins
    time.sleep(1.0)
    started.empty()
    time.sleep(1.0)
    return started.memory()


def main(arguments: list[str] | None = None) -> int:
    """Make the visits that the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.short_visits", description=__doc__)
    parser.add_argument("--visits", type=int, default=500)
    parser.add_argument("--fronts", type=int, default=0, help="behind HAProxy (0: one server without it)")
    given = parser.parse_args(arguments)
    found = measure(given.visits, given.fronts)
    print(table(found))
    return 0 if all(row.passed for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
