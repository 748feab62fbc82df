"""Runs that are trained while people watch: one worker, one queue, and one run for all who ask for the same thing."""

import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Literal

from attnviz.learning.batches import watched_lines
from attnviz.learning.experiment import Experiment
from attnviz.learning.limits import require_affordable
from attnviz.learning.live.process import WorkerProcess
from attnviz.learning.recording import Recording, of_moments
from attnviz.learning.run import WATCHED, Moment

State = Literal["waiting", "training", "done", "failed"]
_End = tuple[State, str, Recording | None]


@dataclass(frozen=True)
class LiveView:
    """A run as a watcher finds it: how many runs go before it, its moments so far from the one that was asked for on,
    and the sentence that says why it failed.
    """

    state: State
    ahead: int
    moments: tuple[Moment, ...]
    error: str = ""


class LiveRun:
    """One run, shared by all who watch it. `LiveRuns.watch` makes them."""

    def __init__(self, experiment: Experiment, changed: Condition, asked_by: str | None = None) -> None:
        self.experiment, self.state, self.error = experiment, "waiting", ""
        self.asked_by = asked_by
        self.recording: Recording | None = None
        self.looked_at = time.monotonic()
        self.ahead = 0
        self._moments: list[Moment] = []
        self._changed = changed

    def look(self, since: int = 0) -> LiveView:
        """How far it is, with the moments from number `since` on. A run that nobody looks at any more is not begun."""
        with self._changed:
            self.looked_at = time.monotonic()
            return LiveView(self.state, self.ahead, tuple(self._moments[since:]), self.error)  # type: ignore[arg-type]

    def so_far(self) -> Recording | None:
        """What there is, as a recording, without scores and weights until it is done; None before the first moment."""
        with self._changed:
            moments, recording = tuple(self._moments), self.recording
        if recording is not None or not moments:
            return recording
        lines = tuple(watched_lines(self.experiment.about, WATCHED))
        return of_moments(self.experiment, moments, lines, {})

    def wait(self, timeout: float | None = None) -> LiveView:
        """Wait for its end, or so many seconds; for notebooks and tests."""
        with self._changed:
            self._changed.wait_for(lambda: self.state in ("done", "failed"), timeout)
        return self.look()

    def _became(self, state: State, error: str = "", recording: Recording | None = None) -> None:
        with self._changed:
            self.state, self.error, self.recording = state, error, recording
            self._changed.notify_all()


class LiveRuns:
    """The queue of an instance. Its worker is begun when somebody asks, and ended after `idle` seconds without a run.

    Up to `most_waiting` runs wait, and half as many that one address has asked for; one that nobody has looked at for
    `left` seconds is passed over when its turn comes. A worker that says nothing for `silence` seconds hangs, and is
    ended. The last `kept` runs that were finished are remembered. Every method is safe to call from many threads at
    once.
    """

    def __init__(
        self, *, most_waiting: int = 8, kept: int = 8, idle: float = 60.0, left: float = 20.0,
        silence: float | None = None,
    ) -> None:  # fmt: skip
        self._most_waiting, self._kept, self._idle, self._left = most_waiting, kept, idle, left
        self._changed = Condition()
        self._waiting: OrderedDict[str, LiveRun] = OrderedDict()
        self._finished: OrderedDict[str, LiveRun] = OrderedDict()
        self._training: LiveRun | None = None
        self._thread: Thread | None = None
        self._worker = WorkerProcess(silence)
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The worker's process, while there is one."""
        return self._worker.pid

    def watch(self, experiment: Experiment, asked_by: str | None = None) -> LiveRun:
        """The run of an experiment: the one that is trained or waits already, one that was finished, or a new one.
        `asked_by` is the address of a visitor who is not at this machine.

        Raises ValueError, with one sentence, where it would take too long, and where too many wait.
        """
        require_affordable(experiment)
        with self._changed:
            for known in (self._training, self._waiting.get(experiment.key), self._finished.get(experiment.key)):
                if known is not None and known.experiment == experiment:
                    known.looked_at = time.monotonic()
                    return known
            self._require_place(asked_by)
            run = self._waiting[experiment.key] = LiveRun(experiment, self._changed, asked_by)
            self._count()
            self._begin()
            self._changed.notify_all()
        return run

    def _require_place(self, asked_by: str | None) -> None:
        own = sum(run.asked_by == asked_by for run in self._waiting.values())
        is_own_full = asked_by is not None and own >= max(1, self._most_waiting // 2)
        if not is_own_full and len(self._waiting) < self._most_waiting:
            return
        said = f"{own} runs from your address wait" if is_own_full else f"{len(self._waiting)} runs wait"
        raise ValueError(f"{said} already. Watch a recording and try again in a minute.")

    def finished(self, experiment: Experiment) -> Recording | None:
        """The recording of a run that was finished lately; None where nobody remembers one."""
        with self._changed:
            run = self._finished.get(experiment.key)
            return run.recording if run is not None and run.experiment == experiment else None

    def close(self) -> None:
        """End the worker and every run that has not been finished."""
        with self._changed:
            self._is_closed = True
            waiting = list(self._waiting.values())
            self._waiting.clear()
            self._changed.notify_all()
        for run in waiting:
            run._became("failed", "The server is closing.")
        self._worker.kill()
        if self._thread is not None:
            self._thread.join()

    def _count(self) -> None:
        """Tell each run how many go before it."""
        for place, run in enumerate(self._waiting.values()):
            run.ahead = place + (self._training is not None)

    def _begin(self) -> None:
        if self._thread is None:
            self._is_closed = False
            self._thread = Thread(target=self._serve, name="attnviz-learning", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        """Train one run after another, until none has come for a while."""
        for run in self._in_turn():
            state, error, recording = self._trained(run)
            with self._changed:
                self._training = None
                self._count()
                if state == "done":
                    self._finished[run.experiment.key] = run
                    while len(self._finished) > self._kept:
                        self._finished.popitem(last=False)
            run._became(state, error, recording)

    def _in_turn(self) -> Iterator[LiveRun]:
        """The runs that somebody still waits for, in their order; the worker is ended when the last has gone."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closed, self._idle)
                if not self._waiting:
                    self._worker.end()
                    self._thread = None
                    return
                _, run = self._waiting.popitem(last=False)
                is_left = time.monotonic() - run.looked_at > self._left
                self._training = None if is_left else run
                self._count()
            if is_left:
                run._became("failed", "This run was dropped because nobody was waiting. Start it again.")
                continue
            run.ahead = 0
            run._became("training")
            yield run

    def _trained(self, run: LiveRun) -> _End:
        """Have the worker train a run; what became of it."""
        end = self._asked(run)
        if end is None and not run._moments and not self._is_closed:  # it had ended since the run before
            end = self._asked(run)
        return end or ("failed", _gone(run), None)

    def _asked(self, run: LiveRun) -> _End | None:
        """What the worker says of a run; None where it ended before it said so, and is gone then."""
        for what, said in self._worker.ask(run.experiment.to_dict()):
            if what == "done":
                return "done", "", said
            if what == "failed":
                return "failed", said, None
            with self._changed:
                run._moments.extend(said)
                self._changed.notify_all()
        self._worker.end()
        return None


def _gone(run: LiveRun) -> str:
    after = run._moments[-1].step if run._moments else 0
    return f"The process that trains has ended after {after:,} updates. Start the run again. Recordings still play."
