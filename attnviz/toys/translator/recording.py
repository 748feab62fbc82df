"""The recording of a translator's training: at each snapshot, all heads' maps of some sentences, and its translations.

The targets are given and stay the same, so that the rows of the maps stay the same; the model's own translations are
recorded separately.

A recording is an npz file, readable with NumPy alone and without pickle.

| key | what | shape |
| --- | --- | --- |
| `format_version` | 1 | `()` |
| `meta` | JSON in UTF-8: under `translator` the lines with all token fields, the translations, and the vocabulary's size | bytes |
| `steps` | updates before each snapshot | `(moments,)` uint32 |
| `held_out_loss` | teacher-forced loss, in nats per token | `(moments,)` float32 |
| `scores.<name>` | scores such as `chrf.fr`, 0 to 100 | `(moments,)` float32 |
| `changes.<line>.<kind>` | maps in 8 bits, as `attnviz.toys.packing` writes them; lines count from 0 | `(layers, heads, q_len, k_len, moments)` uint8 |
"""  # noqa: E501 - a table

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from attnviz.text.tokens import Token
from attnviz.toys.packing import FORMAT_VERSION, arrays_with_prefix, changes, pack_meta, require, undo_changes
from attnviz.tracing.record import Sentence
from attnviz.tracing.storage import sentence_of
from attnviz.tracing.trace import KINDS
from attnviz.transformer.probe import Kind

MOST_LINES, _MOST_VOCABULARY, _MOST_SCORES, _MOST_LOSS = 8, 10_000_000, 64, 1e6
_SCORE = re.compile(r"(bleu|chrf)\.[\w-]{1,20}")


@dataclass(frozen=True)
class WatchedLine:
    """A sentence and its given target in language `to`; `learned` says whether the English sentence is in the training
    data.
    """

    to: str
    sentence: Sentence
    learned: bool


@dataclass(frozen=True, eq=False)
class TranslatorMoment:
    """A snapshot of a training after `step` updates.

    `held_out_loss` is in nats per token, `scores` are by name, and for each line there are its maps, kind -> `(layers,
    heads, q_len, k_len)` uint8 with 255 for weight 1, and the model's own translation.
    """

    step: int
    held_out_loss: float
    scores: Mapping[str, float]
    maps: tuple[Mapping[Kind, np.ndarray], ...]
    wrote: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TranslatorRecording:
    """The recording of a translator's training; `moments` below is the number of snapshots.

    steps: the updates before each snapshot. held_out_loss `(moments,)` float32: teacher-forced loss on dev pairs, in
    nats per token. scores: name -> `(moments,)` float32, such as `chrf.fr`, 0 to 100, for greedy translations of dev
    sentences. maps: for each line, kind -> `(moments, layers, heads, q_len, k_len)` uint8 with 255 for weight 1. wrote:
    for each snapshot, the model's greedy translation of each line. All values belong to the averaged weights, which a
    checkpoint holds.
    """

    lines: tuple[WatchedLine, ...]
    vocab_size: int
    steps: tuple[int, ...]
    held_out_loss: np.ndarray
    scores: Mapping[str, np.ndarray]
    maps: tuple[Mapping[Kind, np.ndarray], ...]
    wrote: tuple[tuple[str, ...], ...]

    @property
    def guess(self) -> float:
        """The loss of uniform guessing in nats: the logarithm of the number of ids."""
        return float(np.log(self.vocab_size))

    @property
    def moments(self) -> tuple[TranslatorMoment, ...]:
        """The snapshots, in order."""
        return tuple(self._moment(at) for at in range(len(self.steps)))

    def answers_at(self, moment: int) -> tuple[str, ...]:
        """Return the translations of the watched lines at snapshot number `moment`."""
        return self.wrote[moment]

    def _moment(self, at: int) -> TranslatorMoment:
        return TranslatorMoment(
            self.steps[at],
            float(self.held_out_loss[at]),
            {name: float(scores[at]) for name, scores in self.scores.items()},
            tuple({kind: maps[at] for kind, maps in of_line.items()} for of_line in self.maps),
            self.wrote[at],
        )


def translator_recording(
    lines: tuple[WatchedLine, ...], vocab_size: int, found: Sequence[TranslatorMoment]
) -> TranslatorRecording:
    """Return a recording of these snapshots, of which there must be at least one."""
    return TranslatorRecording(
        lines,
        vocab_size,
        tuple(moment.step for moment in found),
        np.array([moment.held_out_loss for moment in found], dtype=np.float32),
        {name: np.array([moment.scores[name] for moment in found], dtype=np.float32) for name in found[0].scores},
        tuple(
            {kind: np.stack([moment.maps[line][kind] for moment in found]) for kind in found[0].maps[line]}
            for line in range(len(lines))
        ),
        tuple(moment.wrote for moment in found),
    )


def thin_out(found: Sequence[TranslatorMoment], most: int) -> list[TranslatorMoment]:
    """Return at most `most` snapshots, including the first and the last.

    Repeatedly drop the snapshot whose neighbours are closest to each other; of equals the last one, because most
    happens at the beginning. This keeps a growing recording evenly spaced.
    """
    kept = list(found)
    while len(kept) > max(most, 2):
        gaps = [after.step - before.step for before, after in zip(kept[:-2], kept[2:], strict=True)]
        del kept[max(at for at, gap in enumerate(gaps, start=1) if gap == min(gaps))]
    return kept


def arrays_of(recording: TranslatorRecording) -> dict[str, Any]:
    """Return the arrays that a recording's file holds."""
    said = {
        "vocab_size": recording.vocab_size,
        "lines": [asdict(line) for line in recording.lines],
        "wrote": recording.wrote,
    }
    arrays: dict[str, Any] = {
        "format_version": np.array(FORMAT_VERSION),
        "meta": pack_meta({"translator": said}),
        "steps": np.array(recording.steps, dtype=np.uint32),
        "held_out_loss": recording.held_out_loss,
    }
    arrays |= {f"scores.{name}": scores for name, scores in recording.scores.items()}
    for at, of_line in enumerate(recording.maps):
        arrays |= {f"changes.{at}.{kind}": changes(maps) for kind, maps in of_line.items()}
    return arrays


def recording_of(arrays: dict[str, np.ndarray], said: Any) -> TranslatorRecording:
    """Read a recording from a file's arrays and its meta. Raises ValueError, and KeyError and the like for missing
    parts.
    """
    require(0 < len(said["lines"]) <= MOST_LINES, f"it watches {len(said['lines'])} lines")
    lines = tuple(_line(line) for line in said["lines"])
    found = TranslatorRecording(
        lines,
        said["vocab_size"],
        tuple(arrays["steps"].tolist()),
        arrays["held_out_loss"],
        arrays_with_prefix(arrays, "scores."),
        tuple({kind: undo_changes(arrays[f"changes.{at}.{kind}"]) for kind in KINDS} for at in range(len(lines))),
        tuple(map(tuple, said["wrote"])),
    )
    _check_recording(found)
    return found


def _line(said: dict[str, Any]) -> WatchedLine:
    to, learned, told = said["to"], said["learned"], said["sentence"]
    require(isinstance(to, str) and isinstance(learned, bool), "it watches a line without a language")
    require(_is_typed(told, Sentence) and not told["cut"] and not told["first_row"], "it watches no sentence")
    tokens = (*told["src"], *told["tgt"])
    require(all(_is_typed(token, Token) for token in tokens), "its sentences hold something other than tokens")
    return WatchedLine(to, sentence_of(told), learned)


def _is_typed(said: dict[str, Any], kind: type) -> bool:
    """Check whether values have the types str, int and bool that a dataclass declares for its fields."""
    return all(type(said[field.name]) is field.type for field in fields(kind) if field.type in (str, int, bool))


def _check_recording(found: TranslatorRecording) -> None:
    """Raise ValueError if the arrays cannot come from a translator's training."""
    moments = len(found.steps)
    require(moments >= 1 and list(found.steps) == sorted(set(found.steps)), "its moments are not in order")
    require(
        type(found.vocab_size) is int and 1 < found.vocab_size <= _MOST_VOCABULARY, "it has no valid vocabulary size"
    )
    require(all(map(_SCORE.fullmatch, found.scores)), "it scores translations in an unknown way")
    curves = (found.held_out_loss, *found.scores.values())
    require(all(array.shape == (moments,) for array in curves), "its curves have the wrong length")
    require(all(array.dtype.kind == "f" and np.isfinite(array).all() for array in curves), "its curves are not numbers")
    require(found.held_out_loss.min() >= 0 and found.held_out_loss.max() <= _MOST_LOSS, "its losses are not valid")
    require(len(found.scores) <= _MOST_SCORES, "it has more scores than languages")
    require(all(s.min() >= 0 and s.max() <= 100.01 for s in found.scores.values()), "its scores are not from 0 to 100")
    wrote = [text for texts in found.wrote for text in texts]
    require(
        len(found.wrote) == moments
        and all(len(texts) == len(found.lines) for texts in found.wrote)
        and all(isinstance(text, str) for text in wrote),
        "it has the wrong number of lines",
    )
    for line, of_line in zip(found.lines, found.maps, strict=True):
        for kind, maps in of_line.items():
            stacks = found.maps[0][kind].shape[:3]
            shape = (*stacks, len(line.sentence.queries(kind)), len(line.sentence.keys(kind)))
            require(
                maps.dtype == np.uint8 and maps.ndim == 5 and maps.shape == shape and len(maps) == moments,
                "its maps are of another size",
            )
            require(0 not in shape, "its maps are of another size")
