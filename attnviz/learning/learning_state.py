"""The state of the page Learning: an experiment of one or two runs, or a recording, and what is in view.

It imports no torch, so that the page can draw its controls at once.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

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
from attnviz.learning.outcomes import GUESSES
from attnviz.toys.tasks.catalogue import TASKS

ALONE = "none"  # no second run
PLAIN = "plain"  # a run without switches
OPEN = "open"  # started without a guess
# Source of a recording: the experiments, the shipped translator, or an uploaded file.
EXPERIMENTS, TRANSLATOR, FILE = "experiments", "translator", "file"
# The second run of a task that has no causal mask.
SECOND: Mapping[str, tuple[str, ...] | None] = {"add": None, "digits": ("without-positions",)}
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
        """The parts that are left out in each run: one or two tuples of parts of an experiment's name."""
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
    if found.task in SECOND and not params.get("second"):
        found = replace(found, second=SECOND[found.task])
    return (found if found.first is not None else replace(found, first=())), problems
