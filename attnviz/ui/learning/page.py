"""The Learning page: which runs are shown, and from where they come: a recording, or a process that trains."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from attnviz.analysis.learning.own_line import OwnLine, own_line
from attnviz.learning.experiment import Experiment
from attnviz.learning.live.runs import LiveRun
from attnviz.learning.names import experiment_of
from attnviz.learning.recording import Recording
from attnviz.learning.run import HELD_OUT
from attnviz.models.toy.toy import Toy
from attnviz.text.display import display
from attnviz.ui import captions, layout
from attnviz.ui.learning import controls, live, runs
from attnviz.ui.learning.state import LearningState, Parts
from attnviz.ui.mount import learning
from attnviz.views.captions import Caption
from attnviz.views.learning import outcomes
from attnviz.views.learning.switches import title_of
from attnviz.views.terms import term
from attnviz.widgets.learning.payload import Asked, ShownRun, learning_payload

NOT_RECORDED = "No recording of this run comes with the package: press “Train it yourself”."
NO_WEIGHTS = "“{}” was recorded without its weights: press “Train it yourself” to give it a line of your own."


@dataclass(frozen=True)
class Stage:
    """What the page shows: the runs, and those of them that are still trained."""

    runs: tuple[ShownRun, ...]
    live: tuple[LiveRun, ...] = ()

    @property
    def recordings(self) -> Iterator[tuple[ShownRun, Recording]]:
        """The runs that are over."""
        return ((run, run.recording) for run in self.runs if run.recording is not None)


def staged(view: LearningState) -> Stage:
    """The runs that the view asks for. What cannot be is said above, and the page goes on with the others."""
    found = [_run(view, parts) for parts in view.runs]
    return Stage(tuple(run for run, _ in found), tuple(alive for _, alive in found if alive is not None))


def draw(view: LearningState, stage: Stage) -> None:
    """The component, and the feed of what is trained."""
    asked = _asked(stage)
    payload = learning_payload(stage.runs, asked, view=view.to_payload())
    controls.shown(view)
    titles = " · ".join(run.title for run in stage.runs)
    task = stage.runs[0].experiment.about.title
    caption = Caption(task, f"toys of attnviz, seed {view.seed}: {titles}")
    learning(captions.captioned(payload, caption), key=controls.COMPONENT, on_change=controls.adopt)
    if stage.live:
        live.feed(stage.live)


def status(stage: Stage) -> list[str]:
    """What the status bar says."""
    parts = [term("device", "<b>cpu</b> float32")]
    for run, recording in stage.recordings:
        size, steps = run.experiment.size, recording.steps[-1]
        parts.append(
            f"{run.title}: <b>{size.n_layers}</b> {term('layers')} × <b>{size.n_heads}</b> {term('heads')}, "
            f"d_model {size.d_model}, <b>{steps:,}</b> updates"
        )
    return [*parts, f"{HELD_OUT} {term('held-out')} lines"]


def _run(view: LearningState, parts: Parts) -> tuple[ShownRun, LiveRun | None]:
    try:
        experiment = experiment_of(view.task, parts, seed=view.seed)
    except ValueError as refusal:
        layout.warn(str(refusal))
        usual = Experiment(view.task)
        return ShownRun(usual, "Cannot be trained", "absent", note=str(refusal)), None
    if view.train and not view.guess:
        return ShownRun(experiment, title_of(experiment), "asked"), None
    return _trained(view, experiment) if view.train else (_of_recording(view, experiment), None)


def _trained(view: LearningState, experiment: Experiment) -> tuple[ShownRun, LiveRun | None]:
    """The run as it is trained here; where that cannot be, why, and the recording."""
    try:
        run = live.watched(experiment)
    except ValueError as refusal:
        layout.warn(str(refusal))
        return _of_recording(view, experiment), None
    state = run.look(since=10**9).state
    if state == "failed":
        layout.warn(run.error)
        return _of_recording(view, experiment), None
    if run.recording is not None:
        return _over(view, experiment, run.recording), None
    return ShownRun(experiment, title_of(experiment), "live"), run


def _of_recording(view: LearningState, experiment: Experiment) -> ShownRun:
    try:
        recording = runs.recorded(experiment)
    except ValueError as refusal:
        layout.warn(str(refusal))
        return ShownRun(experiment, title_of(experiment), "absent", note=str(refusal))
    if recording is None:
        return ShownRun(experiment, title_of(experiment), "absent", note=NOT_RECORDED)
    return _over(view, experiment, recording)


def _over(view: LearningState, experiment: Experiment, recording: Recording) -> ShownRun:
    outcome = [outcomes.outcome(recording.scores, HELD_OUT), *outcomes.more(recording.scores)]
    run = ShownRun(experiment, title_of(experiment), "recorded", recording, outcome=tuple(filter(None, outcome)))
    return replace(run, own=_own(recording, run.title, view.line)) if view.line.strip() else run


def _own(recording: Recording, title: str, line: str) -> OwnLine | None:
    """What the toy makes of a line; what it cannot read is said above."""
    if recording.weights is None:
        layout.note(NO_WEIGHTS.format(title))
        return None
    try:
        return own_line(Toy.of(recording), line)
    except ValueError as refusal:
        layout.warn(f"“{display(line[:40])}”: {refusal}")
        return None


def _asked(stage: Stage) -> Asked | None:
    """The question is about the run with more switches."""
    asked = max(range(len(stage.runs)), key=lambda at: (len(stage.runs[at].experiment.parts), at))
    run = stage.runs[asked]
    if run.state == "absent":
        return None
    scores = run.recording.scores if run.recording is not None else None
    verdicts = {guess: outcomes.verdict(guess, scores or {}) for guess in outcomes.GUESSES}
    return Asked(asked, outcomes.question(run.experiment, scores), outcomes.GUESSES, verdicts)
