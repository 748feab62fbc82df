"""Long runs, one at a time: a queue, the thread that serves it, and one run for all visitors who ask for the same."""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from threading import Condition, Thread
from typing import Generic, Literal, TypeVar

RunState = Literal["waiting", "running", "stopped", "done", "failed"]
OVER: tuple[RunState, ...] = ("stopped", "done", "failed")
Outcome = tuple[RunState, str]  # how a run ended, and the sentence that says why it failed


class SharedRun:
    """A run that several visitors may watch: `key` is equal for equal runs, `changed` the lock of its queue.

    `ahead` counts the runs before it; `looked_at` is when a visitor last asked how far it is.
    """

    def __init__(self, key: Hashable, changed: Condition) -> None:
        self.key, self.changed = key, changed
        self.state: RunState = "waiting"
        self.error, self.ahead = "", 0
        self.is_stopped = False  # it was asked to end before it is done
        self.looked_at = time.monotonic()

    def set_state(self, state: RunState, error: str = "") -> None:
        """Set what `wait_until_over` and watchers see."""
        with self.changed:
            self.state, self.error = state, error
            self.changed.notify_all()

    def wait_until_over(self, timeout: float | None = None) -> None:
        """Wait for its end, or so many seconds."""
        with self.changed:
            self.changed.wait_for(lambda: self.state in OVER, timeout)

    def touch(self) -> None:
        """Note that a visitor still waits for it."""
        self.looked_at = time.monotonic()

    def is_left(self, after: float) -> bool:
        """Check whether its last look is longer ago than so many seconds."""
        return time.monotonic() - self.looked_at > after


Run = TypeVar("Run", bound=SharedRun)


class OneAtATime(Generic[Run]):
    """A queue whose thread calls `work` with one run after another. Its methods are safe to call from many threads.

    The last `kept` runs that are over are remembered. The thread begins with a run; after `idle` seconds without
    another it calls `on_idle` and ends.
    """

    def __init__(
        self, work: Callable[[Run], Outcome], *, name: str, kept: int, idle: float = 0.0,
        on_idle: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._work, self._name, self._kept, self._idle, self._on_idle = work, name, kept, idle, on_idle
        self.changed = Condition()
        self.waiting: OrderedDict[Hashable, Run] = OrderedDict()
        self.running: Run | None = None
        self.is_closed = False
        self._over: OrderedDict[Hashable, Run] = OrderedDict()
        self.thread: Thread | None = None

    def ask(self, run: Run, admit: Callable[[Collection[Run]], None], *, again: bool) -> Run:
        """Queue a run, or return the one with its key that runs, waits or is over.

        One that was stopped or failed is not returned but begun anew where `again` asks for that. `admit` is called
        with the runs that wait, and raises ValueError where there is no place for another.
        """
        with self.changed:
            for known in (self.running, self.waiting.get(run.key), self._over.get(run.key)):
                if known is not None and known.key == run.key and _is_answer(known, again=again):
                    known.touch()
                    return known
            admit(self.waiting.values())
            self._over.pop(run.key, None)
            self.waiting[run.key] = run
            self._count()
            self.begin()
            self.changed.notify_all()
        return run

    def find_finished(self, key: Hashable) -> Run | None:
        """Return the run with this key, if it is over and still remembered."""
        with self.changed:
            return self._over.get(key)

    def begin(self) -> None:
        """Start the thread, unless it is there."""
        if self.thread is None:
            self.is_closed = False
            self.thread = Thread(target=self._serve, name=self._name, daemon=True)
            self.thread.start()

    def close(self, error: str) -> None:
        """Fail the runs that wait, and let the thread end after the one that runs."""
        with self.changed:
            self.is_closed = True
            for run in self.waiting.values():
                run.set_state("failed", error)
            self.changed.notify_all()

    def _serve(self) -> None:
        while (run := self._next()) is not None:
            outcome = self._work(run)
            with self.changed:
                self.running = None
                self._count()
                self._remember(run)
                run.set_state(*outcome)

    def _next(self) -> Run | None:
        """Take the first run that still waits; None after `idle` seconds without any, and then the thread ends."""
        with self.changed:
            while self.changed.wait_for(lambda: self.waiting or self.is_closed, self._idle) and self.waiting:
                _, run = self.waiting.popitem(last=False)
                if run.state == "waiting":
                    self.running, run.ahead = run, 0
                    self._count()
                    run.set_state("running")
                    return run
                self._remember(run)
            self._on_idle()
            self.thread = None
            return None

    def _count(self) -> None:
        for place, run in enumerate(self.waiting.values()):
            run.ahead = place + (self.running is not None)

    def _remember(self, run: Run) -> None:
        self._over[run.key] = run
        while len(self._over) > self._kept:
            self._over.popitem(last=False)


def _is_answer(run: SharedRun, *, again: bool) -> bool:
    return run.state == "done" or (not again if run.state in OVER else not run.is_stopped)
