"""The picture of a training, of toys and translators: one or two recordings, step by step, and the state."""

from collections.abc import Sequence
from typing import Any

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.subject import Subject
from attnviz.kit.views.captions import Caption
from attnviz.kit.wire import Payload
from attnviz.learning import outcomes
from attnviz.learning.learning_state import LearningState, RecordingState
from attnviz.learning.widget import payload
from attnviz.learning.widget.payload import Asked, OwnLine, Shown, ShownRun, ShownTranslator, learning_payload, own_line
from attnviz.models.toy.toy import Toy
from attnviz.toys.recording import Recording
from attnviz.toys.switches import title_of
from attnviz.toys.translator.recording import TranslatorRecording

NO_WEIGHTS = "“{}” was recorded without its weights. Press “Train it yourself” to try a line of your own."
READS_IMAGES = "This toy reads images and no line. Open it in Heads to choose an image of your own."
TRANSLATORS_TITLE = "A translator’s training"


def learning(
    recordings: Sequence[Recording | TranslatorRecording], state: LearningState | RecordingState | None = None
) -> Payload:
    """Return the picture of one or two training recordings.

    Raise ValueError for a typed line that a toy cannot read.
    """
    if state is None:
        are_toys = all(isinstance(recording, Recording) for recording in recordings)
        state = LearningState(guess="open") if are_toys else RecordingState()
    line = state.line if isinstance(state, LearningState) else ""
    runs = [
        shown_run(recording, line)
        if isinstance(recording, Recording)
        else ShownTranslator(TRANSLATORS_TITLE, payload.pack_translator(recording))
        for recording in recordings
    ]
    return runs_payload(runs, view_of_runs(runs, state))


def runs_payload(runs: Sequence[Shown], view: dict[str, Any]) -> Payload:
    """Pack the picture of one or two runs, which may still be training.

    It includes a question in which the visitor guesses the outcome of the run with more parts left out.
    """
    toys = [run for run in runs if isinstance(run, ShownRun) and run.packed is None]
    return learning_payload(runs, question(toys) if toys else None, view=view)


def view_of_runs(runs: Sequence[Shown], state: LearningState | RecordingState) -> dict[str, Any]:
    """Return what the browser shows of these runs: the recorded step, the head and the guess.

    `of` identifies the runs, so that a later report from the browser about other runs can be ignored.
    """
    of = ",".join(run.key for run in runs)
    if isinstance(state, RecordingState):
        return {"moment": state.moment, "site": state.site, "guess": "", "sentence": state.sentence, "of": of}
    of += "+train" if state.train else ""
    return {"moment": state.moment, "site": state.site, "guess": state.guess, "of": of}


def shown_run(recording: Recording, line: str = "") -> ShownRun:
    """Return a recorded run with sentences about its outcome, and its toy's output for a typed line.

    Raise ValueError for a line that cannot be run.
    """
    outcome = [outcomes.outcome(recording.scores, recording.held_out), *outcomes.more_measures(recording.scores)]
    return ShownRun(
        recording.experiment,
        title_of(recording.experiment),
        "recorded",
        recording,
        outcome=tuple(filter(None, outcome)),
        own=_own_line(recording, line) if line.strip() else None,
    )


def _own_line(recording: Recording, line: str) -> OwnLine:
    if recording.experiment.toy_task.is_image:
        raise ValueError(READS_IMAGES)
    if recording.weights is None:
        raise ValueError(NO_WEIGHTS.format(title_of(recording.experiment)))
    return own_line(Toy.from_recording(recording), line)


def question(runs: Sequence[ShownRun]) -> Asked | None:
    """Return the question in which the visitor guesses the outcome of the run with more parts left out.

    Return None if that run can be neither trained nor shown.
    """
    asked = max(range(len(runs)), key=lambda at: (len(runs[at].experiment.parts), at))
    run = runs[asked]
    if run.state == "absent":
        return None
    scores = run.recording.scores if run.recording is not None else None
    task = run.experiment.task
    verdicts = {guess: outcomes.verdict(guess, scores or {}, task) for guess in outcomes.GUESSES}
    return Asked(asked, outcomes.question(run.experiment, scores), outcomes.guesses(task), verdicts)


@reads_arguments
def learning_of(
    recording: Recording | TranslatorRecording, other: Recording | TranslatorRecording | None = None
) -> Subject:
    """Show one or two recordings of training, step by step."""
    recordings = [recording] if other is None else [recording, other]
    are_toys = all(isinstance(one, Recording) for one in recordings)
    start = LearningState(guess="open") if are_toys else RecordingState()
    silent = ("task", "seed", "first", "second", "train", "recording", "of")
    titles = [title_of(one.experiment) if isinstance(one, Recording) else TRANSLATORS_TITLE for one in recordings]
    caption = Caption("", " | ".join(titles))
    return Subject(start, lambda state: learning(recordings, state), lambda state: caption, {}, silent)
