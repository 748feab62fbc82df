"""Runs that are trained while visitors watch: one queue and one worker process; visitors with the same request
share a run.
"""

from collections.abc import Collection
from dataclasses import dataclass
from threading import Condition

from attnviz.analysis.one_at_a_time import OneAtATime, Outcome, RunState, SharedRun
from attnviz.learning.live.process import WorkerProcess
from attnviz.toys.experiment import Experiment
from attnviz.toys.learn import require_affordable
from attnviz.toys.recording import Recording, recording_from_moments
from attnviz.toys.run import Moment


@dataclass(frozen=True)
class LiveView:
    """Status of a run: its state, the number of runs ahead of it, its recorded steps from the requested one on,
    and the reason if it failed.
    """

    state: RunState
    ahead: int
    moments: tuple[Moment, ...]
    error: str = ""


class LiveRun(SharedRun):
    """A training run of an experiment, made by `LiveRuns.watch`. `asked_by` is the address that requested it first."""

    def __init__(self, experiment: Experiment, changed: Condition, asked_by: str | None = None) -> None:
        super().__init__(experiment, changed)
        self.experiment, self.asked_by = experiment, asked_by
        self.recording: Recording | None = None
        self.moments: list[Moment] = []

    def look(self, since: int = 0) -> LiveView:
        """Return the status with the recorded steps from index `since` on, and note that a visitor still watches."""
        with self.changed:
            self.touch()
            return LiveView(self.state, self.ahead, tuple(self.moments[since:]), self.error)

    def so_far(self) -> Recording | None:
        """Return what is recorded so far; None before the first step.

        Scores and weights are missing until the run is done.
        """
        with self.changed:
            moments, recording = tuple(self.moments), self.recording
        if recording is not None or not moments:
            return recording
        return recording_from_moments(self.experiment, moments, tuple(self.experiment.toy_task.watched()), {})

    def wait(self, timeout: float | None = None) -> LiveView:
        """Wait until the run is over, or at most `timeout` seconds. For notebooks and tests."""
        self.wait_until_over(timeout)
        return self.look()


class LiveRuns:
    """The training runs of one server.

    The worker process starts with the first run, and ends after `idle` seconds without a run. At most `most_waiting`
    runs wait, and at most half as many from one address. A run that no visitor has looked at for `left` seconds is
    dropped when its turn comes. A worker that sends nothing for `silence` seconds is killed. The last `kept` runs are
    kept. Every method is thread-safe.
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
        """The id of the worker process, or None if it does not run."""
        return self._worker.pid

    def watch(self, experiment: Experiment, asked_by: str | None = None) -> LiveRun:
        """Return the run of an experiment: a running, waiting or finished one, or a new one.

        `asked_by` is the address of a visitor on another machine. Raise ValueError with a message of one sentence if
        the run would take too long, or if too many runs wait.
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
        """Return the recording of a recently finished run; None if there is none."""
        run = self.queue.find_finished(experiment)
        return None if run is None else run.recording

    def close(self) -> None:
        """End the worker and every unfinished run."""
        thread = self.queue.thread
        self.queue.close("The server is closing.")
        self._worker.kill()
        if thread is not None:
            thread.join()

    def _train(self, run: LiveRun) -> Outcome:
        """Let the worker train a run; try a second time if the worker had ended before it sent anything."""
        if run.is_left(self._left):
            return "failed", (
                "This run was removed from the queue, because nobody was waiting for it. Please start it again."
            )
        end = self._ask_worker(run)
        if end is None and not run.moments and not self.queue.is_closed:
            end = self._ask_worker(run)
        if end is not None:
            return end
        after = run.moments[-1].step if run.moments else 0
        return "failed", (
            f"The process that trains has ended after {after:,} updates. Start the run again. You can "
            "still watch recordings."
        )

    def _ask_worker(self, run: LiveRun) -> Outcome | None:
        """Collect the recorded steps of a run until the worker reports its end; return None if the worker ended
        before that.
        """
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
