"""Queue of corpus studies: one study runs at a time per server, in a thread of low priority.

After each batch or sentence the thread sleeps as long as it worked. On Linux its priority is lowered too. All visitors
who request the same study share one run.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Condition
from typing import Literal

import pandas as pd

from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.corpus.reading import ReadCorpus, read_corpus
from attnviz.analysis.one_at_a_time import OneAtATime, Outcome, RunState, SharedRun
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.corpus.numbers.importance import HeadImportance, ablation_importance, gradient_importance
from attnviz.causes.corpus.numbers.profiles import HeadProfiles, head_profiles
from attnviz.models.protocol import Model

Stage = Literal["reading", "measuring", "gradient", "ablation"]
STAGES: tuple[Stage, ...] = ("reading", "measuring", "gradient", "ablation")
Listen = Callable[[Stage], Cancellable]  # receives the progress of each stage, and may stop it
NO_TARGETS = "{} writes no targets, so the importance of its heads cannot be measured."
_NICENESS = 10
_MOST_REST = 1.0  # seconds


@dataclass(frozen=True, eq=False)
class CorpusStudy:
    """Results so far.

    An importance is None if it has not been measured yet, or cannot be, for the reason in `why_not`.
    """

    profiles: HeadProfiles
    gradient: HeadImportance | None = None
    ablation: HeadImportance | None = None
    why_not: str = ""

    @property
    def corpus(self) -> ReadCorpus:
        """The tokenized sentences."""
        return self.profiles.corpus

    @property
    def places(self) -> tuple[HeadPlace, ...]:
        """Kind, layer and number of every head."""
        return self.profiles.places

    @cached_property
    def heads(self) -> pd.DataFrame:
        """Table with one row per head: mean and quantiles of each measure over sentences, the share of each role with
        the share that a random key would reach, and both importances in nats per target token.
        """
        of_head = ["kind", "layer", "head"]
        found = pd.DataFrame(self.places, columns=of_head)
        distribution = self.profiles.distribution().drop(columns="sentences")
        for name, part in distribution.groupby("measure", sort=False):
            found = found.merge(_add_prefix(part.drop(columns="measure"), str(name), of_head), on=of_head)
        shares = self.profiles.role_shares()
        for role in shares["role"].unique():
            part = shares.loc[shares["role"] == role, [*of_head, "share", "by lot"]]
            named = part.rename(columns={"share": role, "by lot": f"{role} by lot"})
            found = found.merge(named, on=of_head, how="left")
        for made in filter(None, (self.gradient, self.ablation)):
            found = found.merge(_add_prefix(made.table(), made.how, of_head), on=of_head)
        return found

    def sentence_table(self) -> pd.DataFrame:
        """Return a table with one row per sentence and head: each measure, the largest output norm and its row, and
        the head's importance by gradient and by ablation, in nats over the whole target.
        """
        from attnviz.analysis.metric_table import METRICS

        profiles, lines = self.profiles, []
        for item in profiles.measured.nonzero()[:, 0].tolist():
            part = pd.DataFrame(profiles.places, columns=["kind", "layer", "head"])
            part.insert(0, "sentence", profiles.corpus.lines[item].text)
            part.insert(0, "line", profiles.corpus.lines[item].number)
            part[list(METRICS)] = profiles.measures[item].numpy()
            part["written"], part["written_at"] = profiles.written[item].numpy(), profiles.written_at[item].numpy()
            for made in filter(None, (self.gradient, self.ablation)):
                part[made.how] = made.signed[item].numpy()
            lines.append(part)
        return pd.concat(lines, ignore_index=True)


def run_stages(model: Model, lines: Sequence[CorpusLine], *, to: str, listen: Listen) -> Iterator[CorpusStudy]:
    """Yield the study after each stage from "measuring" on.

    If stopped, the last study has the results until then. Raise TextError, which names the line, if `read_corpus` does.
    """
    corpus = read_corpus(model, lines, to=to, stop=listen("reading"))
    study = CorpusStudy(head_profiles(model, corpus, stop=listen("measuring")))
    if not all(corpus.target_rows):
        yield replace(study, why_not=NO_TARGETS.format(model.name))
        return
    yield study
    study = replace(study, gradient=_if_any(gradient_importance(model, corpus, stop=listen("gradient"))))
    yield study
    yield replace(study, ablation=_if_any(ablation_importance(model, corpus, stop=listen("ablation"))))


def _if_any(found: HeadImportance) -> HeadImportance | None:
    return found if found.sentences else None


def _add_prefix(part: pd.DataFrame, name: str, but: Sequence[str]) -> pd.DataFrame:
    """Prefix every column with the name of its measure, except the columns in `but`."""
    return part.rename(columns={column: f"{name} {column}" for column in part.columns if column not in but})


@dataclass(frozen=True)
class StudyView:
    """Status of a study: state, stage, steps done and total, runs ahead of it, other watchers, results, and error."""

    state: RunState
    stage: Stage
    done: int
    total: int
    ahead: int
    others: int
    study: CorpusStudy | None = None
    error: str = ""


class StudyRun(SharedRun):
    """A study of a model on a list of sentences, made by `Studies.ask`.

    A visitor who has not looked for `left` seconds no longer counts as watching.
    """

    def __init__(self, model: Model, lines: tuple[CorpusLine, ...], to: str, changed: Condition, left: float) -> None:
        super().__init__((model.model_id, to, lines), changed)
        self.lines, self.to, self.left = lines, to, left
        self.model: Model | None = model  # released when the run is over
        self.stage: Stage = "reading"
        self.progress: tuple[int, int] = (0, len(lines))
        self.study: CorpusStudy | None = None
        self._seen: dict[str, float] = {}

    def look(self, watcher: str = "") -> StudyView:
        """Return the status of the study. If `watcher` is given, count that visitor as watching."""
        with self.changed:
            self.touch()
            if watcher:
                self._seen[watcher] = self.looked_at
            others = len(self._watchers() - {watcher})
            return StudyView(self.state, self.stage, *self.progress, self.ahead, others, self.study, self.error)

    def stop(self, watcher: str = "") -> bool:
        """Stop the run and keep its results, unless other visitors watch it. Return whether it stops."""
        with self.changed:
            self._seen.pop(watcher, None)
            self.is_stopped = not self._watchers()
            if self.is_stopped and self.state == "waiting":
                self.state, self.model = "stopped", None
            self.changed.notify_all()
            return self.is_stopped

    def wait(self, timeout: float | None = None) -> StudyView:
        """Wait until the run is over, or at most `timeout` seconds. For notebooks and tests."""
        self.wait_until_over(timeout)
        return self.look()

    def _watchers(self) -> set[str]:
        now = time.monotonic()
        return {name for name, when in self._seen.items() if now - when <= self.left}


class Studies:
    """The queue of studies of one server.

    At most `most_waiting` runs wait, and the last `kept` finished runs are kept. A run that no visitor has looked at
    for `left` seconds stops for a waiting one and keeps its results. `share` is the part of the time that the thread
    works. Every method is thread-safe.
    """

    def __init__(self, *, most_waiting: int = 8, kept: int = 4, share: float = 0.5, left: float = 20.0) -> None:
        self._most_waiting, self.share, self._left = most_waiting, share, left
        self.queue: OneAtATime[StudyRun] = OneAtATime(self._study, name="attnviz-corpus", kept=kept)

    def ask(self, model: Model, lines: Sequence[CorpusLine], *, to: str = "", again: bool = False) -> StudyRun:
        """Return the run for a model and a list: an existing one, or a new one.

        With `again`, a run that was stopped or failed is started anew. Raise ValueError with a message of one sentence
        if too many runs wait.
        """

        def admit(waiting: Collection[StudyRun]) -> None:
            if len(waiting) >= self._most_waiting:
                raise ValueError(f"{len(waiting)} lists are waiting already. Please try again in a minute.")

        return self.queue.ask(StudyRun(model, tuple(lines), to, self.queue.changed, self._left), admit, again=again)

    def must_stop(self, run: StudyRun) -> bool:
        """Return whether a run was stopped, or is unwatched while another run waits."""
        with self.queue.changed:
            run.is_stopped = run.is_stopped or (run.is_left(self._left) and bool(self.queue.waiting))
            return run.is_stopped

    def _study(self, run: StudyRun) -> Outcome:
        def listen(stage: Stage) -> Cancellable:
            run.stage, run.progress = stage, (0, len(run.lines))
            return RestingProgress(run, self).make_cancellable()

        _lower_priority()
        assert run.model is not None  # the run is not over yet
        try:
            for study in run_stages(run.model, run.lines, to=run.to, listen=listen):
                run.study = study
                if self.must_stop(run):
                    break
        except ValueError as refusal:
            return "failed", str(refusal)
        except Exception as error:  # a visitor's model may raise anything, and the queue must go on
            return "failed", f"The model could not be run on this list: {str(error).strip().splitlines()[0]:.200}"
        finally:
            run.model = None
        return ("stopped" if run.is_stopped else "done"), ""


class RestingProgress:
    """Record the progress of a run after each step, and sleep between two steps."""

    def __init__(self, run: StudyRun, studies: Studies) -> None:
        self.run, self._studies, self._begun = run, studies, time.monotonic()

    def make_cancellable(self) -> Cancellable:
        """Return the Cancellable to which the study reports its progress."""
        return Cancellable(self.note, lambda: self._studies.must_stop(self.run))

    def note(self, done: int, total: int) -> None:
        """Record how many steps are done, then sleep."""
        self.run.progress = done, total
        share = self._studies.share
        time.sleep(min(_MOST_REST, (time.monotonic() - self._begun) * (1 - share) / share))
        self._begun = time.monotonic()


def _lower_priority() -> None:
    """Lower the priority of this thread. This works only on Linux."""
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
