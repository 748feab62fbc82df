"""Peak memory of a call, from the profiler's record of all allocations."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import torch

METHOD = (
    "every allocation and release in this thread, as torch's CPU allocator reports them to torch.profiler, added up in "
    "order; weights and input, which were there before, are not counted"
)
_one_at_a_time = Lock()  # a process has only one profiler


@dataclass(frozen=True)
class PeakMemory:
    """Memory in bytes: the `peak` of a whole call, the memory `alive` when the block named `mark` began, and
    the `late` peak after that.

    `alive` and `late` are 0 if the call has no such block.
    """

    peak: int
    alive: int = 0
    late: int = 0


def peak_memory(call: Callable[[], object], *, mark: str = "") -> PeakMemory:
    """Run `call` once, and add up its allocations. `mark` names a `torch.profiler.record_function` block in it."""
    from torch.profiler import ProfilerActivity, profile

    with (
        _one_at_a_time,
        _without_garbage(),
        profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled,
    ):
        kept = call()
        del kept
    held = peak = alive = late = 0
    marked = False
    events = profiled.profiler.kineto_results.events()  # type: ignore[union-attr]
    for event in sorted(events, key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()  # type: ignore[attr-defined]
            peak, late = max(peak, held), max(late, held) if marked else 0
        elif mark and event.name() == mark:
            marked, alive, late = True, held, held
    return PeakMemory(peak, alive, late)


@contextmanager
def _without_garbage() -> Iterator[None]:
    """Free tensors in reference cycles now, and not during this context, where their release would be counted."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def warm_up() -> None:
    """Load the profiler, because its first use is slow."""
    peak_memory(lambda: torch.zeros(1))
