"""Data for the Learning component: one or two runs, complete or in progress, with their labels.

`attnviz.kit.wire` describes the layout. A recording is sent to the browser once, compressed; `packed` is its offset.
The recorded steps of a live run are sent in pieces, which `attnviz.learning.page.live` packs in the same layout.
"""

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np

from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.toy.toy import Toy
from attnviz.text.display import display, display_token
from attnviz.text.entries import entries
from attnviz.toys.experiment import Experiment
from attnviz.toys.head_scores import SCORES
from attnviz.toys.recording import Recording
from attnviz.toys.tasks.digits import INK
from attnviz.toys.tasks.task import Words
from attnviz.toys.translator.recording import TranslatorRecording, WatchedLine
from attnviz.tracing.record import Sentence
from attnviz.transformer.probe import Kind

MOST_WRITTEN = 400  # maximum characters of a line
FORMAT = 1
Packed: TypeAlias = tuple[dict[str, Any], bytes]
_KEPT = 32  # packed recordings in the cache, about 50 kB each
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


@dataclass(frozen=True, eq=False)
class OwnLine:
    """A toy's output for a typed line.

    `right` is the correct answer, or None if the line is not one of the task's. `maps` has for each kind the attention
    `(layers, heads, q_len, k_len)` while the toy writes `wrote` from its own prefix, as uint8 with 255 for 1.
    """

    src: Words
    wrote: Words
    right: Words | None
    sentence: Sentence
    maps: Mapping[Kind, np.ndarray]


def own_line(toy: Toy, text: str) -> OwnLine:
    """Run a toy on a line. Raise TextError for an empty line, or for a word that the toy does not know."""
    source = toy.read(text)
    src = toy.codec.words([token.id for token in source.src or source.begun])
    wrote = tuple(toy.write(text).split())
    trace = toy.trace(text, new_tokens=max(1, len(wrote)) if toy.is_decoder_only else None)
    maps: dict[Kind, np.ndarray] = {kind: (trace.attn(kind) * 255).round().byte().numpy() for kind in trace.kinds}
    return OwnLine(src, wrote, toy.experiment.toy_task.answer(src), trace.sentences[0], maps)


@dataclass(frozen=True, eq=False)
class ShownRun:
    """A run as the page shows it.

    `state` is "recorded" (it is over and `recording` is set), "live" (its steps come by the feed), "asked" (it starts
    once the visitor has guessed) or "absent", for the reason in `note`. `outcome` are sentences about its result;
    `trained` is True if it was trained while the visitor watched. `packed` is the result of `pack`, for a recording
    that visitors do not share.
    """

    experiment: Experiment
    title: str
    state: str
    recording: Recording | None = None
    note: str = ""
    outcome: Sequence[str] = ()
    own: OwnLine | None = None
    trained: bool = False
    packed: Packed | None = None

    @property
    def key(self) -> str:
        """A short id, the same for equal runs; a recording from a file has its own."""
        return run_key(self.experiment) if self.packed is None else packed_key(self.packed)

    def header(self, blobs: Blobs) -> dict[str, Any]:
        """Return the run's part of the data for the browser, and add long arrays to `blobs`."""
        return _run(self, blobs)


class Shown(Protocol):
    """A training that the picture can show: the run of a toy, or of a translator."""

    @property
    def key(self) -> str:
        """A short id, the same for equal objects."""
        ...

    def header(self, blobs: Blobs, /) -> dict[str, Any]:
        """Return this object's part of the payload's header, and add long arrays to `blobs`."""
        ...


@dataclass(frozen=True)
class Asked:
    """The question in which the visitor guesses the outcome of a run.

    It has the index of the run, the question, the possible guesses, and a sentence that answers each guess.
    """

    run: int
    text: str
    guesses: Mapping[str, str] = field(default_factory=dict)
    verdict: Mapping[str, str] = field(default_factory=dict)


def learning_payload(runs: Sequence[Shown], asked: Asked | None, *, view: Mapping[str, Any]) -> Payload:
    """Pack the data that the Learning component draws. `view` has step, head and guess."""
    blobs = Blobs()
    header: dict[str, Any] = {
        "format": FORMAT,
        "runs": [run.header(blobs) for run in runs],
        "asked": None if asked is None else asdict(asked),
        "colour": {name.lower(): blobs.add(_scale(name)) for name in _SCALES},
    }
    header["id"] = header["base"] = blobs.digest(header)
    return Payload({**header, "view": dict(view)}, blobs.join())


def run_key(experiment: Experiment) -> str:
    """Return a short id of a run's experiment, the same for equal experiments."""
    return hashlib.blake2b(experiment.key.encode(), digest_size=8).hexdigest()


def packed_key(packed: Packed) -> str:
    """Return a short id of a packed recording."""
    return hashlib.blake2b(packed[1], digest_size=8).hexdigest()


def describe_run(recording: Recording) -> dict[str, Any]:
    """Describe what is the same at every step of a run: kinds and labels of its maps, its words and lines, and
    the loss of guessing.
    """
    task, words = recording.experiment.toy_task, recording.words
    return {
        "kinds": [kind_header(kind, recording.sentence, maps.shape[1:]) for kind, maps in recording.maps.items()],
        "scores": [
            [name, SCORES[name], layer, head]
            for name, found in _head_scores(recording).items()
            for layer in range(found.shape[1])
            for head in range(found.shape[2])
        ],
        "words": list(words.pieces),
        "spaced": task.spaced,
        "lines": [[list(line.src), list(line.tgt)] for line in recording.watched],
        "guess": recording.guess,
        "floor": task.loss_floor(recording.experiment.pairs),
        "updates": recording.experiment.size.steps,
        "causal": recording.experiment.is_causal,
        **(describe_images(recording) if task.is_image else {}),
    }


def describe_images(recording: Recording) -> dict[str, Any]:
    """Describe the images of a toy that reads digits: their sizes, the value of ink, and how many were scored.

    The grey values of the watched images are their lines.
    """
    image = recording.sentence.images[0]
    return {
        "image": {"size": list(image.size), "grid": list(image.grid), "patch": list(image.patch), "ink": INK},
        "vocabulary": recording.experiment.toy_task.n_answers,
        "held_out": recording.held_out,
    }


def moments(recording: Recording, blobs: Blobs) -> dict[str, Any]:
    """Pack the recorded steps of a run, each array step by step; return the offsets of the arrays."""
    count = len(recording.steps)
    scores = [found.reshape(count, -1) for found in _head_scores(recording).values()]
    maps = [found.reshape(count, -1) for found in recording.maps.values()]
    curves = [recording.held_out_loss, recording.teacher_prefix, recording.own_prefix]
    confusion = recording.confusion
    return {
        "steps": list(recording.steps),
        "first": recording.steps[-1] - len(recording.losses),
        "losses": blobs.add(recording.losses.astype("<f4")),
        "curves": blobs.add(np.stack(curves, axis=1).astype("<f4")),
        "scores": blobs.add(np.concatenate(scores, axis=1).astype("<f4")),
        "maps": blobs.add(np.concatenate(maps, axis=1)),
        "wrote": blobs.add(recording.wrote),
        "longest": recording.wrote.shape[2],
        **({} if confusion is None else {"confusion": blobs.add(confusion.reshape(count, -1).astype("<f4"))}),
    }


def kind_header(kind: str, sentence: Sentence, shape: Sequence[int]) -> dict[str, Any]:
    """Describe an attention kind with its rows and columns; `shape` is layers, heads, rows, columns."""
    words, outputs = KINDS[kind], sentence.outputs(kind)  # type: ignore[arg-type]
    queries, keys = sentence.queries(kind), sentence.keys(kind)  # type: ignore[arg-type]
    said = outputs or (None,) * len(queries)
    return {
        "kind": kind,
        "title": words.name,
        "tab": words.tab,
        "question": words.question,
        "query": words.query,
        "key": words.key,
        "shape": list(map(int, shape)),
        "rows": [[display_token(query), None if out is None else display_token(out)]
                 for query, out in zip(queries, said, strict=True)],
        "cols": [display_token(token) for token in keys],
        "row_entries": [[entries([query]), [] if out is None else entries([out])]
                        for query, out in zip(queries, said, strict=True)],
        "col_entries": [entries([token]) for token in keys],
    }  # fmt: skip


def _run(run: ShownRun, blobs: Blobs) -> dict[str, Any]:
    header: dict[str, Any] = {
        "key": run.key,
        "name": run.experiment.name,
        "title": run.title,
        "state": run.state,
        "note": run.note,
        "outcome": list(run.outcome),
        "trained": run.trained,
    }
    if run.recording is not None:
        said, packed = run.packed or _pack_once(run.recording)
        header |= said | {"packed": [blobs.add(np.frombuffer(packed, dtype=np.uint8)), len(packed)]}
    if run.own is not None:
        header["own"] = _own_line(run.own, blobs)
    return header


@lru_cache(maxsize=_KEPT)
def _pack_once(recording: Recording) -> Packed:
    """Pack a recording once for all visitors."""
    return pack(recording)


def pack(recording: Recording) -> Packed:
    """Return what describes a recording for the browser, and its recorded steps as compressed bytes."""
    blobs = Blobs()
    said = {"about": describe_run(recording), "moments": moments(recording, blobs)}
    return said, zlib.compress(blobs.join(), 6)


def _own_line(own: OwnLine, blobs: Blobs) -> dict[str, Any]:
    maps = [found.reshape(-1) for found in own.maps.values()]
    kinds = [kind_header(kind, own.sentence, found.shape) for kind, found in own.maps.items()]
    return {
        "src": list(own.src),
        "wrote": list(own.wrote),
        "right": None if own.right is None else list(own.right),
        "kinds": kinds,
        "maps": blobs.add(np.concatenate(maps)),
    }


def _head_scores(recording: Recording) -> dict[str, np.ndarray]:
    """Return the scores of what each head does, without sharpness, which is not such a score."""
    return {name: found for name, found in recording.heads.items() if name in SCORES}


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)


@dataclass(frozen=True, eq=False)
class ShownTranslator:
    """A translator's training as the page shows it; `packed` is the result of `pack` for its recording."""

    title: str
    packed: Packed

    @property
    def key(self) -> str:
        """A short id, the same for equal trainings."""
        return packed_key(self.packed)

    def header(self, blobs: Blobs) -> dict[str, Any]:
        """Return this training's part of the payload's header."""
        said, content = self.packed
        return {
            "key": self.key,
            "name": "translator",
            "title": self.title,
            "state": "recorded",
            "note": "",
            "outcome": [],
            "trained": False,
            **said,
            "packed": [blobs.add(np.frombuffer(content, dtype=np.uint8)), len(content)],
        }


def pack_translator(recording: TranslatorRecording) -> Packed:
    """Return what describes a recording for the browser, and its recorded steps as compressed bytes."""
    blobs = Blobs()
    said = {"about": _describe(recording), "moments": _moments(recording, blobs)}
    return said, zlib.compress(blobs.join(), 6)


def _describe(recording: TranslatorRecording) -> dict[str, Any]:
    """Describe what is the same at every step: sentences with their kinds, names of scores, and the loss of
    guessing.
    """
    return {
        "of": "translator",
        "sentences": [_sentence(recording, at, line) for at, line in enumerate(recording.lines)],
        "curves": list(recording.scores),
        "guess": recording.guess,
        "vocabulary": recording.vocab_size,
        "updates": recording.steps[-1],
    }


def _sentence(recording: TranslatorRecording, at: int, line: WatchedLine) -> dict[str, Any]:
    sentence = line.sentence
    return {
        "to": display(line.to),
        "src": _cut(sentence.src_text),
        "tgt": _cut(sentence.tgt_text),
        "learned": line.learned,
        "kinds": [kind_header(kind, sentence, maps.shape[1:]) for kind, maps in recording.maps[at].items()],
    }


def _moments(recording: TranslatorRecording, blobs: Blobs) -> dict[str, Any]:
    """Pack the curves and maps of each recorded step, maps by sentence and then by kind; return the offsets."""
    count = len(recording.steps)
    maps = [found.reshape(count, -1) for of_line in recording.maps for found in of_line.values()]
    return {
        "steps": list(recording.steps),
        "curves": blobs.add(np.stack([recording.held_out_loss, *recording.scores.values()], axis=1).astype("<f4")),
        "maps": blobs.add(np.concatenate(maps, axis=1)),
        "wrote": [list(map(_cut, texts)) for texts in recording.wrote],
    }


def _cut(text: str) -> str:
    shown = display(text)
    return shown if len(shown) <= MOST_WRITTEN else shown[:MOST_WRITTEN].rstrip() + " …"
