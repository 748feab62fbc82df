"""Run a function on many inputs, each in a process of its own with a time limit: a crash or a hang is one result."""

import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

_CONTEXT = multiprocessing.get_context("fork")  # what was imported before need not be again


def run_each(
    function: Callable[[str], Any], inputs: Sequence[str], *, at_once: int = 2, seconds: float = 120
) -> Iterator[tuple[str, Any]]:
    """Yield each input with its result, or with a str that says how it failed, in the order in which they end."""
    running: dict[Connection, tuple[str, Any, float]] = {}
    waiting = list(reversed(inputs))
    while waiting or running:
        while waiting and len(running) < at_once:
            name = waiting.pop()
            here, there = _CONTEXT.Pipe(duplex=False)
            process = _CONTEXT.Process(target=_send, args=(function, name, there))
            process.start()
            there.close()
            running[here] = name, process, time.monotonic() + seconds
        ready = wait(list(running), timeout=1)
        late = [here for here, (_, _, end) in running.items() if time.monotonic() > end and here not in ready]
        for here in (*ready, *late):
            name, process, _ = running.pop(here)  # type: ignore[index]
            yield name, _receive(here) if here in ready else f"no answer in {seconds:.0f} s"  # type: ignore[arg-type]
            process.kill()
            process.join()


def _send(function: Callable[[str], Any], name: str, there: Connection) -> None:
    try:
        there.send(function(name))
    except BaseException:
        there.send(traceback.format_exc())


def _receive(here: Connection) -> Any:
    try:
        return here.recv()
    except EOFError:
        return "the process ended"
