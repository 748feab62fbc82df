"""The recording of a translator's training: at each snapshot, all heads' maps of some sentences, and its translations.

The targets are given and stay the same, so that the rows of the maps stay the same; the model's own translations are
recorded separately.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.tracing.record import Sentence
from attnviz.transformer.probe import Kind


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
