"""Studies that people wait for: one at a time on an instance, in a thread that leaves the machine to everybody else.

The thread works a batch or a sentence at a time, rests as long as it worked, and has a low priority where the system
gives threads one. Whoever asks for the same study watches the same run.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Literal

from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.corpus.stoppable import Stoppable
from attnviz.analysis.corpus.study import CorpusStudy, Stage, studied
from attnviz.models.protocol import Model

StudyState = Literal["waiting", "running", "stopped", "done", "failed"]
OVER: tuple[StudyState, ...] = ("stopped", "done", "failed")
_Key = tuple[str, str, tuple[CorpusLine, ...]]
_NICENESS = 10
_MOST_REST = 1.0  # seconds


@dataclass(frozen=True)
class StudyView:
    """A run as a watcher finds it: what it does, how far that is, how many go before it, how many others watch, what
    is known so far, and the sentence that says why it failed.
    """

    state: StudyState
    stage: Stage
    done: int
    total: int
    ahead: int
    others: int
    study: CorpusStudy | None = None
    error: str = ""


class StudyRun:
    """One run, shared by all who watch it. `Studies.ask` makes them."""

    def __init__(self, model: Model, lines: tuple[CorpusLine, ...], to: str, changed: Condition) -> None:
        self.lines, self.to = lines, to
        self.key: _Key = (model.model_id, to, lines)
        self.model: Model | None = model  # let go of when it is over
        self.state: StudyState = "waiting"
        self.stage: Stage = "reading"
        self.study: CorpusStudy | None = None
        self.ahead, self.error = 0, ""
        self._far: tuple[int, int] = (0, len(lines))
        self._seen: dict[str, float] = {}
        self._asked_at = time.monotonic()
        self._is_stopped = False
        self._changed = changed

    def look(self, watcher: str = "") -> StudyView:
        """How far it is. Whoever gives a name counts as watching."""
        with self._changed:
            if watcher:
                self._seen[watcher] = time.monotonic()
            others = len(self._seen) - (watcher in self._seen)
            return StudyView(self.state, self.stage, *self._far, self.ahead, others, self.study, self.error)

    def stop(self, watcher: str = "") -> bool:
        """Stop it, and keep what was done; not while others watch it. Whether it stops."""
        with self._changed:
            self._seen.pop(watcher, None)
            self._forget_who_left(_LEFT)
            self._is_stopped = not self._seen
            if self._is_stopped and self.state == "waiting":
                self.state = "stopped"
            self._changed.notify_all()
            return self._is_stopped

    def wait(self, timeout: float | None = None) -> StudyView:
        """Wait for its end, or so many seconds; for notebooks and tests."""
        with self._changed:
            self._changed.wait_for(lambda: self.state in OVER, timeout)
        return self.look()

    def _forget_who_left(self, after: float) -> None:
        now = time.monotonic()
        self._seen = {who: when for who, when in self._seen.items() if now - when < after}

    def _became(self, state: StudyState, error: str = "") -> None:
        with self._changed:
            self.state, self.error = state, error
            self._changed.notify_all()


_LEFT = 20.0  # seconds after which who has not looked has left


class Studies:
    """The queue of an instance. Up to `most_waiting` runs wait; the last `kept` that are over are remembered.

    A run that nobody has looked at for a while makes room for one that waits, and keeps what it has. `share` is the
    part of the time that the thread works. Every method is safe to call from many threads at once.
    """

    def __init__(self, *, most_waiting: int = 8, kept: int = 4, share: float = 0.5) -> None:
        self._most_waiting, self._kept, self._share = most_waiting, kept, share
        self._changed = Condition()
        self._waiting: OrderedDict[_Key, StudyRun] = OrderedDict()
        self._over: OrderedDict[_Key, StudyRun] = OrderedDict()
        self._running: StudyRun | None = None
        self._thread: Thread | None = None

    def ask(self, model: Model, lines: Sequence[CorpusLine], *, to: str = "", again: bool = False) -> StudyRun:
        """The run of a model and a list: one that runs, waits or is over already, or a new one. One that was stopped
        or failed is begun anew where that is asked for (`again`).

        Raises ValueError, with one sentence, where too many wait.
        """
        asked = StudyRun(model, tuple(lines), to, self._changed)
        with self._changed:
            over = self._over.get(asked.key)
            if over is not None and not (again and over.state != "done"):
                return over
            for known in (self._running, self._waiting.get(asked.key)):
                if known is not None and known.key == asked.key and not known._is_stopped:
                    return known
            if len(self._waiting) >= self._most_waiting:
                raise ValueError(f"{len(self._waiting)} lists wait to be read already: ask again in a minute.")
            self._over.pop(asked.key, None)
            self._waiting[asked.key] = asked
            self._count()
            if self._thread is None:
                self._thread = Thread(target=self._serve, name="attnviz-corpus", daemon=True)
                self._thread.start()
        return asked

    def _count(self) -> None:
        for place, run in enumerate(self._waiting.values()):
            run.ahead = place + (self._running is not None)

    def _serve(self) -> None:
        """One run after another, until none waits."""
        _be_nice()
        while (run := self._next()) is not None:
            state, error = self._studied(run)
            with self._changed:
                self._running = run.model = None
                self._over[run.key] = run
                while len(self._over) > self._kept:
                    self._over.popitem(last=False)
            run._became(state, error)

    def _next(self) -> StudyRun | None:
        with self._changed:
            while self._waiting:
                _, run = self._waiting.popitem(last=False)
                if run.state == "waiting":
                    self._running, run.ahead, run.state = run, 0, "running"
                    self._count()
                    return run
            self._thread = None
            return None

    def _studied(self, run: StudyRun) -> tuple[StudyState, str]:
        def listen(stage: Stage) -> Stoppable:
            run.stage, run._far = stage, (0, len(run.lines))
            return _Resting(run, self).stoppable()

        assert run.model is not None  # it is not over
        try:
            for study in studied(run.model, run.lines, to=run.to, listen=listen):
                run.study = study
                if self._must_stop(run):
                    return "stopped", ""
        except ValueError as refusal:
            return "failed", str(refusal)
        except Exception as error:  # of somebody else's model: the next run must not be lost with it
            return "failed", f"The model could not be run on this list: {str(error).strip().splitlines()[0]:.200}"
        return ("stopped" if run._is_stopped else "done"), ""

    def _must_stop(self, run: StudyRun) -> bool:
        with self._changed:
            run._forget_who_left(_LEFT)
            is_left = not run._seen and time.monotonic() - run._asked_at > _LEFT
            run._is_stopped = run._is_stopped or (is_left and bool(self._waiting))
            return run._is_stopped


class _Resting:
    """Tells a run how far it is, and rests between its steps."""

    def __init__(self, run: StudyRun, studies: Studies) -> None:
        self._run, self._studies, self._begun = run, studies, time.monotonic()

    def stoppable(self) -> Stoppable:
        return Stoppable(self._tell, lambda: self._studies._must_stop(self._run))

    def _tell(self, done: int, total: int) -> None:
        self._run._far = done, total
        share = self._studies._share
        time.sleep(min(_MOST_REST, (time.monotonic() - self._begun) * (1 - share) / share))
        self._begun = time.monotonic()


def _be_nice() -> None:
    """Lower this thread's priority, where the system knows threads by number (Linux)."""
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
