"""The worker process for live training: `python -m attnviz.learning.live.worker`, started by `LiveRuns`.

It is a process of its own, because a thread of the server would hold the interpreter's lock and block every page. It
reads experiments from standard input, and writes frames: ("moments", […]) five times a second, then ("done", recording)
or ("failed", sentence). It ends when standard input ends.
"""

import math
import os
import sys
import time
from typing import Any, BinaryIO

PAUSE = 0.2  # seconds between frames
_NICE = 10


def main() -> None:
    """Train the experiments that arrive on standard input, one after another."""
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # redirect prints to standard error
    _stand_back()
    from attnviz.learning.live.process import read_frame

    try:
        while (asked := read_frame(sys.stdin.buffer)) is not None:
            train(asked, frames)
    except BrokenPipeError:  # the server is gone
        os._exit(0)


def _stand_back() -> None:
    """Lower the priority of this process, so that threads that answer page requests run first."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    if hasattr(os, "sched_setscheduler"):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def train(asked: dict[str, Any], frames: BinaryIO) -> None:
    """Train one experiment, and write a frame for its recorded steps."""
    from attnviz.learning.live.process import write_frame
    from attnviz.toys.experiment import Experiment
    from attnviz.toys.recording import record
    from attnviz.toys.run import Moment

    waiting: list[Moment] = []
    told = -math.inf  # so that the first frame is sent at once

    def watch(moment: Moment) -> None:
        nonlocal told
        waiting.append(moment)
        if time.monotonic() - told >= PAUSE:
            write_frame(frames, ("moments", list(waiting)))
            waiting.clear()
            told = time.monotonic()

    try:
        end = ("done", record(Experiment.from_dict(asked), watch))
    except ValueError as error:
        end = ("failed", str(error))
    if waiting:
        write_frame(frames, ("moments", waiting))
    write_frame(frames, end)


if __name__ == "__main__":
    main()
