"""The picture of a training, of toys and translators: one or two recordings, step by step, and the state."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.fields import (
    PageState,
    Problem,
    Say,
    choice,
    declare,
    declare_unlinked,
    flag,
    read,
    text,
    whole_number,
)
from attnviz.kit.subject import Subject
from attnviz.kit.views.captions import Caption
from attnviz.kit.wire import Payload
from attnviz.learning import outcomes
from attnviz.learning.outcomes import GUESSES
from attnviz.learning.widget import payload
from attnviz.learning.widget.payload import Asked, OwnLine, Shown, ShownRun, ShownTranslator, learning_payload, own_line
from attnviz.models.toy.toy import Toy
from attnviz.toys.recording import Recording
from attnviz.toys.run import HELD_OUT
from attnviz.toys.switches import title_of
from attnviz.toys.tasks.catalogue import TASKS
from attnviz.toys.translator.recording import TranslatorRecording

NO_WEIGHTS = "“{}” was recorded without its weights. Press “Train it yourself” to try a line of your own."
TRANSLATORS_TITLE = "A translator’s training"
ALONE = "none"  # no second run
PLAIN = "plain"  # a run without switches
OPEN = "open"  # started without a guess
# Source of a recording: the experiments, the shipped translator, or an uploaded file.
EXPERIMENTS, TRANSLATOR, FILE = "experiments", "translator", "file"
MOST_SENTENCES = 8
MOST_LINE, MOST_PARTS, MOST_SEED = 400, 8, 100_000
_SITE = re.compile(r"(?:encoder_self|decoder_self|cross)\.[0-9]{1,2}\.[0-9]{1,2}")
_FILE = re.compile(r"[^/\\\x00-\x1f]{1,100}\.npz")
_WORD = re.compile(r"[a-z0-9.-]{1,60}")
Parts = tuple[str, ...]


def _parts(text: str, bound: Any, default: Parts | None, say: Say) -> Parts | None:
    """Parse switches, written as parts of an experiment's name joined by ~."""
    if text in (ALONE, PLAIN):
        return None if text == ALONE else ()
    words = tuple(dict.fromkeys(text.split("~")))
    if len(words) <= MOST_PARTS and all(map(_WORD.fullmatch, words)):
        return words
    say("switches look like without-causal-mask~pairs-30", _parts_text(default))
    return default


def _parts_text(value: Parts | None) -> str:
    return ALONE if value is None else "~".join(value) or PLAIN


def _site(text: str, bound: Any, default: str, say: Say) -> str:
    if _SITE.fullmatch(text):
        return text
    say("a head looks like cross.0.1", "every head")
    return default


def _guess(text: str, bound: Any, default: str, say: Say) -> str:
    if text in (*GUESSES, OPEN):
        return text
    say(f"a guess is {', '.join(GUESSES)}, or {OPEN} for no guess", "the question")
    return default


def _recording(text: str, bound: Any, default: str, say: Say) -> str:
    if text in (EXPERIMENTS, TRANSLATOR, FILE) or _FILE.fullmatch(text):
        return text
    say(f"it can be {EXPERIMENTS}, {TRANSLATOR}, {FILE}, or a file beside the lessons, such as run.npz", default)
    return default


@dataclass(frozen=True)
class LearningState(PageState):
    """Two runs for the same task, side by side.

    `first` and `second` are their switches (`second` None: only one run). `moment` is the recorded step on the slider,
    and `site` the head that is drawn large. `train` says whether the runs are trained now, `guess` is the visitor's
    guess, and `line` a typed line. `of` is set by the browser and identifies the runs in its view.
    """

    task: str = choice("french", tuple(TASKS))
    seed: int = whole_number(1, MOST_SEED)
    first: tuple[str, ...] = declare((), _parts, _parts_text)
    second: tuple[str, ...] | None = declare(("without-causal-mask",), _parts, _parts_text)
    train: bool = flag()
    guess: str = declare("", _guess)
    moment: int = whole_number(0, 1_000)
    site: str = declare("", _site)
    line: str = text(limit=MOST_LINE)
    of: str = declare_unlinked("", str)

    @property
    def runs(self) -> tuple[Parts, ...]:
        """The switches of each run."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def for_others(self) -> "LearningState":
        """The state for a copied link, without the guess, so that whoever opens the link makes their own."""
        return self if self.guess == OPEN else replace(self, guess="")


@dataclass(frozen=True)
class RecordingState(PageState):
    """A recording that is shown instead of the experiments.

    `recording` says where it comes from; besides the three constants it can name a file beside the lessons. `moment`
    and `site` are the recorded step and the head in view. For a translator's training, `sentence` selects the watched
    sentence whose maps are drawn.
    """

    recording: str = declare(EXPERIMENTS, _recording)
    moment: int = whole_number(0, 1_000)
    site: str = declare("", _site)
    sentence: int = whole_number(0, MOST_SENTENCES)
    of: str = declare_unlinked("", str)


def recording_of(params: Mapping[str, str]) -> tuple[RecordingState, tuple[Problem, ...]]:
    """Parse the state of a recording from address parameters, and return it with a message for each invalid one."""
    return read(RecordingState, params, {})


def view_of(params: Mapping[str, str]) -> tuple[LearningState, tuple[Problem, ...]]:
    """Parse the state of an experiment from address parameters, and return it with a message for each invalid one."""
    found, problems = read(LearningState, params, {})
    return (found if found.first is not None else replace(found, first=())), problems


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
    """Return the picture of runs, which may still be training, with a question about the run that has more switches."""
    toys = [run for run in runs if isinstance(run, ShownRun) and run.packed is None]
    return learning_payload(runs, question(toys) if toys else None, view=view)


def view_of_runs(runs: Sequence[Shown], state: LearningState | RecordingState) -> dict[str, Any]:
    """Return the browser's view. `of` identifies the runs, so that an answer about other runs can be recognised."""
    of = ",".join(run.key for run in runs)
    if isinstance(state, RecordingState):
        return {"moment": state.moment, "site": state.site, "guess": "", "sentence": state.sentence, "of": of}
    of += "+train" if state.train else ""
    return {"moment": state.moment, "site": state.site, "guess": state.guess, "of": of}


def shown_run(recording: Recording, line: str = "") -> ShownRun:
    """Return a recorded run with sentences about its outcome, and its toy's output for a typed line.

    Raise ValueError for a line that cannot be run.
    """
    outcome = [outcomes.outcome(recording.scores, HELD_OUT), *outcomes.more_measures(recording.scores)]
    return ShownRun(
        recording.experiment,
        title_of(recording.experiment),
        "recorded",
        recording,
        outcome=tuple(filter(None, outcome)),
        own=_own_line(recording, line) if line.strip() else None,
    )


def _own_line(recording: Recording, line: str) -> OwnLine:
    if recording.weights is None:
        raise ValueError(NO_WEIGHTS.format(title_of(recording.experiment)))
    return own_line(Toy.from_recording(recording), line)


def question(runs: Sequence[ShownRun]) -> Asked | None:
    """Return the question about the run with more switches; None if that run is unavailable."""
    asked = max(range(len(runs)), key=lambda at: (len(runs[at].experiment.parts), at))
    run = runs[asked]
    if run.state == "absent":
        return None
    scores = run.recording.scores if run.recording is not None else None
    verdicts = {guess: outcomes.verdict(guess, scores or {}) for guess in outcomes.GUESSES}
    return Asked(asked, outcomes.question(run.experiment, scores), outcomes.GUESSES, verdicts)


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
