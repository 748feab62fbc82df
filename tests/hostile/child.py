"""Open crafted material in this process, one piece after another, and report the result and the cost of each.

Lines of a kind, a tab and a name come on standard input, a line of JSON goes out for each; what else is printed goes
the way of errors. Of memory, what is in use at the most (VmHWM, set back before each) beyond what was in use before; a
hard limit on the address space ends what goes on taking. Of time, the processor's: others may use it besides.
"""

import json
import os
import resource
import sys
import time
from functools import cache
from pathlib import Path

ROOM = 3 << 30  # bytes of address space beyond the baseline: more than any of these may take, less than hurts


def status(field: str) -> int:
    """Read a field of /proc/self/status, in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def measure(attempt) -> dict[str, object]:
    """Run an attempt; return its sentence ("" if accepted) or the name of another fault, bytes and seconds."""
    Path("/proc/self/clear_refs").write_text("5")  # sets the highest mark back
    before, started = status("VmRSS"), time.process_time()
    try:
        attempt()
        said, fault = "", ""
    except ValueError as error:
        said, fault = str(error), ""
    except BaseException as error:  # a fault of any kind is told of
        said, fault = "", f"{type(error).__name__}: {error}"[:300]
    seconds = time.process_time() - started
    return {"said": said, "fault": fault, "grown": status("VmHWM") - before, "seconds": seconds}


def main() -> None:
    """Open every piece named on standard input."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    from tests.hostile import attempts

    ready = cache(lambda kind: attempts.KINDS[kind]())
    for line in sys.stdin:
        kind, name = line.rstrip("\n").split("\t")
        prepared = ready(kind)(name)
        resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + ROOM, resource.RLIM_INFINITY))
        answers.write(json.dumps(measure(prepared)) + "\n")


if __name__ == "__main__":
    main()
