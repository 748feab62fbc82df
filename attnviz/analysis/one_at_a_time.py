"""Long runs, one at a time: a queue, the thread that works on it, and shared runs for visitors with the same
request.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from threading import Condition, Thread
from typing import Generic, Literal, TypeVar

RunState = Literal["waiting", "running", "stopped", "done", "failed"]
OVER: tuple[RunState, ...] = ("stopped", "done", "failed")
Outcome = tuple[RunState, str]  # final state of a run, and the reason if it failed


class SharedRun:
    """A run that several visitors may watch.

    `key` is the same for equal requests, and `changed` is the lock of the queue. `ahead` is the number of runs before
    it, and `looked_at` the time when a visitor last asked for its status.
    """

    def __init__(self, key: Hashable, changed: Condition) -> None:
        self.key, self.changed = key, changed
        self.state: RunState = "waiting"
        self.error, self.ahead = "", 0
        self.is_stopped = False  # True if the run was asked to end early
        self.looked_at = time.monotonic()

    def set_state(self, state: RunState, error: str = "") -> None:
        """Set the state of the run, such as running or finished, and wake the threads that wait for the run."""
        with self.changed:
            self.state, self.error = state, error
            self.changed.notify_all()

    def wait_until_over(self, timeout: float | None = None) -> None:
        """Wait until the run is over, or at most `timeout` seconds."""
        with self.changed:
            self.changed.wait_for(lambda: self.state in OVER, timeout)

    def touch(self) -> None:
        """Note that a visitor still watches the run."""
        self.looked_at = time.monotonic()

    def is_left(self, after: float) -> bool:
        """Return whether no visitor has asked for the run's status for `after` seconds."""
        return time.monotonic() - self.looked_at > after


Run = TypeVar("Run", bound=SharedRun)


class OneAtATime(Generic[Run]):
    """A queue whose thread calls `work` with one run after another.

    All methods are thread-safe. The last `kept` finished runs are kept. The thread starts with the first run; after
    `idle` seconds without another run it calls `on_idle` and ends.
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
        """Queue a run, or return an existing run with the same key that is running, waiting or finished.

        With `again`, a run that was stopped or failed is started anew. `admit` is called with the waiting runs, and
        raises ValueError if there are too many.
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
        """Return the finished run with this key, if it is still kept."""
        with self.changed:
            return self._over.get(key)

    def begin(self) -> None:
        """Start the thread that works on the queue, unless it is already running."""
        if self.thread is None:
            self.is_closed = False
            self.thread = Thread(target=self._serve, name=self._name, daemon=True)
            self.thread.start()

    def close(self, error: str) -> None:
        """Mark the waiting runs as failed, and let the thread end after the current run."""
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
        """Return the next waiting run; None after `idle` seconds without one, which ends the thread."""
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
