"""The training of a translator, moment by moment: how every head looked at some sentences, and what it wrote for them.

Targets are given, the same at every moment, so that each map keeps its rows; what the model itself would have written
stands beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.tracing.record import Sentence
from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class WatchedLine:
    """A sentence and its given target, in language `to`; `learned` where training sees the English sentence too."""

    to: str
    sentence: Sentence
    learned: bool


@dataclass(frozen=True, eq=False)
class TranslatorMoment:
    """A training as it stands after `step` updates: `held_out_loss` in nats a token, `scores` by name, and for each
    line its maps, kind -> `(layers, heads, q_len, k_len)` uint8, 255 being 1, and what was written.
    """

    step: int
    held_out_loss: float
    scores: Mapping[str, float]
    maps: tuple[Mapping[Kind, np.ndarray], ...]
    wrote: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TranslatorRecording:
    """The record of a translator's training. `moments` below is the number of times that it was looked at.

    steps: the updates before each moment. held_out_loss `(moments,)` float32: of dev pairs on the teacher's prefix, in
    nats a token. scores: name -> `(moments,)` float32, such as `chrf.fr`, 0 to 100, of greedy translations of dev
    sentences. maps: for each line, kind -> `(moments, layers, heads, q_len, k_len)` uint8, 255 being 1. wrote: for each
    moment, what the model wrote for each line, greedily. All of it by the averaged weights, which a checkpoint holds.
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
        """The loss of a model that has learned nothing and guesses evenly, in nats: ln of how many ids there are."""
        return float(np.log(self.vocab_size))

    @property
    def moments(self) -> tuple[TranslatorMoment, ...]:
        """Moment by moment."""
        return tuple(self._moment(at) for at in range(len(self.steps)))

    def answers_at(self, moment: int) -> tuple[str, ...]:
        """Return the translations of the watched lines at a moment."""
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
    """Make a recording of these moments, of which there is one at least."""
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
    """So many moments at most, the first and the last among them.

    Again and again the moment goes whose neighbours are nearest to each other; of equals the last, because most
    happens at the beginning. So a recording that grows by one moment at a time stays even.
    """
    kept = list(found)
    while len(kept) > max(most, 2):
        gaps = [after.step - before.step for before, after in zip(kept[:-2], kept[2:], strict=True)]
        del kept[max(at for at, gap in enumerate(gaps, start=1) if gap == min(gaps))]
    return kept
