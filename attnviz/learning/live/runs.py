"""Runs that are trained while visitors watch: one queue, one worker process, one run for all who ask for the same."""

from collections.abc import Collection
from dataclasses import dataclass
from threading import Condition

from attnviz.analysis.one_at_a_time import OneAtATime, Outcome, RunState, SharedRun
from attnviz.learning.live.process import WorkerProcess
from attnviz.toys.batches import watched_lines
from attnviz.toys.experiment import Experiment
from attnviz.toys.limits import require_affordable
from attnviz.toys.recording import Recording, recording_from_moments
from attnviz.toys.run import WATCHED, Moment


@dataclass(frozen=True)
class LiveView:
    """Progress of a run: how many runs go before it, its moments from the one that was asked for on, and the sentence
    that says why it failed.
    """

    state: RunState
    ahead: int
    moments: tuple[Moment, ...]
    error: str = ""


class LiveRun(SharedRun):
    """A run of an experiment. `LiveRuns.watch` makes it; `asked_by` is the address that asked for it first."""

    def __init__(self, experiment: Experiment, changed: Condition, asked_by: str | None = None) -> None:
        super().__init__(experiment, changed)
        self.experiment, self.asked_by = experiment, asked_by
        self.recording: Recording | None = None
        self.moments: list[Moment] = []

    def look(self, since: int = 0) -> LiveView:
        """Return how far it is, with the moments from number `since` on, and note that a visitor still waits."""
        with self.changed:
            self.touch()
            return LiveView(self.state, self.ahead, tuple(self.moments[since:]), self.error)

    def so_far(self) -> Recording | None:
        """Return what is recorded, without scores and weights until it is done; None before its first moment."""
        with self.changed:
            moments, recording = tuple(self.moments), self.recording
        if recording is not None or not moments:
            return recording
        lines = tuple(watched_lines(self.experiment.toy_task, WATCHED))
        return recording_from_moments(self.experiment, moments, lines, {})

    def wait(self, timeout: float | None = None) -> LiveView:
        """Wait for its end, or so many seconds; for notebooks and tests."""
        self.wait_until_over(timeout)
        return self.look()


class LiveRuns:
    """The runs of an instance. Its worker begins with the first of them, and ends after `idle` seconds without one.

    Up to `most_waiting` runs wait, and half as many that one address has asked for; one that no visitor has looked at
    for `left` seconds is dropped when its turn comes. A worker that says nothing for `silence` seconds hangs, and is
    killed. The last `kept` runs are remembered. Every method is safe to call from many threads at once.
    """

    def __init__(
        self, *, most_waiting: int = 8, kept: int = 8, idle: float = 60.0, left: float = 20.0,
        silence: float | None = None,
    ) -> None:  # fmt: skip
        self._most_waiting, self._left = most_waiting, left
        self._worker = WorkerProcess(silence)
        self.queue: OneAtATime[LiveRun] = OneAtATime(
            self._train, name="attnviz-learning", kept=kept, idle=idle, on_idle=self._worker.end
        )

    @property
    def pid(self) -> int | None:
        """The worker's process, while there is one."""
        return self._worker.pid

    def watch(self, experiment: Experiment, asked_by: str | None = None) -> LiveRun:
        """Return the run of an experiment: one that runs or waits already, one that was finished, or a new one.
        `asked_by` is the address of a visitor who is not at this machine.

        Raises ValueError, with one sentence, where it would take too long, and where too many wait.
        """
        require_affordable(experiment)

        def admit(waiting: Collection[LiveRun]) -> None:
            own = sum(run.asked_by == asked_by for run in waiting)
            is_own_full = asked_by is not None and own >= max(1, self._most_waiting // 2)
            if is_own_full or len(waiting) >= self._most_waiting:
                said = f"{own} runs from your address wait" if is_own_full else f"{len(waiting)} runs wait"
                raise ValueError(f"{said} already. Watch a recording and try again in a minute.")

        return self.queue.ask(LiveRun(experiment, self.queue.changed, asked_by), admit, again=True)

    def finished_recording(self, experiment: Experiment) -> Recording | None:
        """Return the recording of a run that was finished lately; None where none is remembered."""
        run = self.queue.find_finished(experiment)
        return None if run is None else run.recording

    def close(self) -> None:
        """End the worker and every run that has not been finished."""
        thread = self.queue.thread
        self.queue.close("The server is closing.")
        self._worker.kill()
        if thread is not None:
            thread.join()

    def _train(self, run: LiveRun) -> Outcome:
        """Have the worker train a run, a second time where it had ended since the run before."""
        if run.is_left(self._left):
            return "failed", "This run was dropped because nobody was waiting. Start it again."
        end = self._ask_worker(run)
        if end is None and not run.moments and not self.queue.is_closed:
            end = self._ask_worker(run)
        if end is not None:
            return end
        after = run.moments[-1].step if run.moments else 0
        return "failed", (
            f"The process that trains has ended after {after:,} updates. Start the run again. Recordings still play."
        )

    def _ask_worker(self, run: LiveRun) -> Outcome | None:
        """Collect the moments of a run until the worker says how it ended; None where the worker ended before."""
        for what, content in self._worker.ask(run.experiment.to_dict()):
            if what == "failed":
                return "failed", content
            with run.changed:
                if what == "done":
                    run.recording = content
                    return "done", ""
                run.moments.extend(content)
                run.changed.notify_all()
        self._worker.end()
        return None
