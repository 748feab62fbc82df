"""The page Learning: the runs that it shows, each from a recording or from a live training."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from attnviz.app import layout
from attnviz.app.mount import learning
from attnviz.kit.views.captions import Caption, with_caption
from attnviz.kit.views.terms import term
from attnviz.learning import learning as pictures
from attnviz.learning.learning_state import LearningState, Parts
from attnviz.learning.live.runs import LiveRun
from attnviz.learning.page import controls, live, runs
from attnviz.learning.widget.payload import ShownRun
from attnviz.toys.experiment import Experiment, experiment_of
from attnviz.toys.recording import Recording
from attnviz.toys.run import HELD_OUT
from attnviz.toys.switches import title_of

NOT_RECORDED = "There is no recording of this run. To see it, press “Train it yourself”."
Said = list[str]  # messages to show above the picture


@dataclass(frozen=True)
class Staged:
    """The one or two runs that the page shows, and those of them that are training now."""

    runs: tuple[ShownRun, ...]
    live: tuple[LiveRun, ...] = ()

    @property
    def recordings(self) -> Iterator[tuple[ShownRun, Recording]]:
        """The runs that are over, with their recordings."""
        return ((run, run.recording) for run in self.runs if run.recording is not None)

    @property
    def waiting_keys(self) -> set[str]:
        """The keys of runs that wait for training while the page shows their recording instead."""
        return {run.experiment.key for run in self.live} & {run.experiment.key for run, _ in self.recordings}


def stage_of(view: LearningState) -> Staged:
    """Return the runs that the view asks for. If a run cannot be trained, say why above the picture."""
    said: Said = []
    found = [_run(view, parts, said) for parts in view.runs]
    layout.warn(*dict.fromkeys(said))
    return Staged(tuple(run for run, _ in found), tuple(alive for _, alive in found if alive is not None))


def draw(view: LearningState, stage: Staged) -> None:
    """Draw the Learning component, and start the feed that sends the steps of trainings to the browser."""
    told = controls.remember(pictures.view_of_runs(stage.runs, view))
    payload = pictures.runs_payload(stage.runs, told)
    titles = " · ".join(run.title for run in stage.runs)
    task = stage.runs[0].experiment.toy_task.title
    caption = Caption(task, f"toys of attnviz, seed {view.seed}: {titles}")
    learning(with_caption(payload, caption), key=controls.COMPONENT, on_change=controls.adopt)
    if stage.live:
        live.feed(stage.live, stage.waiting_keys)


def status(stage: Staged) -> list[str]:
    """Return the parts of the status bar as HTML."""
    parts = [term("device", "<b>cpu</b> float32")]
    for run, recording in stage.recordings:
        size, steps = run.experiment.size, recording.steps[-1]
        parts.append(
            f"{run.title}: {_count(size.n_layers, 'layers')} × {_count(size.n_heads, 'heads')}, "
            f"d_model {size.d_model}, <b>{steps:,}</b> updates"
        )
    held_out = next((recording.held_out for _, recording in stage.recordings), HELD_OUT)
    lines = "images" if stage.runs[0].experiment.toy_task.is_image else "lines"
    return [*parts, f"{held_out} {term('held-out')} {lines}"]


def _count(number: int, what: str) -> str:
    """Return a number of layers or heads as HTML for the status bar."""
    return f"<b>{number}</b> {term(what, what.removesuffix('s') if number == 1 else what)}"


def _run(view: LearningState, parts: Parts, said: Said) -> tuple[ShownRun, LiveRun | None]:
    try:
        experiment = experiment_of(view.task, parts, seed=view.seed)
    except ValueError as refusal:
        said.append(str(refusal))
        usual = Experiment(view.task)
        return ShownRun(usual, "Cannot be trained", "absent", note=str(refusal)), None
    if view.train and not view.guess:
        return ShownRun(experiment, title_of(experiment), "asked"), None
    return _live_run(view, experiment, said) if view.train else (_recorded_run(view, experiment, said), None)


def _live_run(view: LearningState, experiment: Experiment, said: Said) -> tuple[ShownRun, LiveRun | None]:
    """Return the live run; if it cannot be trained, say why and return the recording."""
    try:
        run = live.watch(experiment)
    except ValueError as refusal:
        said.append(str(refusal))
        return _recorded_run(view, experiment, said), None
    state = run.look(since=10**9).state
    if state == "waiting" and (recording := runs.recording_or_none(experiment)) is not None:
        return _finished_run(view, recording, said), run
    if state == "failed":
        said.append(run.error)
        return _recorded_run(view, experiment, said), None
    if run.recording is not None:
        return replace(_finished_run(view, run.recording, said), trained=True), None
    return ShownRun(experiment, title_of(experiment), "live"), run


def _recorded_run(view: LearningState, experiment: Experiment, said: Said) -> ShownRun:
    try:
        recording = runs.recording_of(experiment)
    except ValueError as refusal:
        said.append(str(refusal))
        return ShownRun(experiment, title_of(experiment), "absent", note=str(refusal))
    if recording is None:
        return ShownRun(experiment, title_of(experiment), "absent", note=NOT_RECORDED)
    return _finished_run(view, recording, said)


def _finished_run(view: LearningState, recording: Recording, said: Said) -> ShownRun:
    """Return a finished run. If its toy cannot read the typed line, say so above the picture."""
    try:
        return pictures.shown_run(recording, view.line)
    except ValueError as refusal:
        said.append(str(refusal))
        return pictures.shown_run(recording)
