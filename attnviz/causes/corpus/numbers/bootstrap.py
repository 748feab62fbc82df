"""Bootstrap confidence intervals (95 %) of a corpus score, by resampling its sentences."""

from typing import NamedTuple

import numpy as np

DRAWS = 1_000
_EDGES = (2.5, 97.5)


class Interval(NamedTuple):
    """A score with the bounds of its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def draw_sentences(sentences: int, *, draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """Draw sentence indices with replacement, `(draws, sentences)`. The same seed gives the same indices."""
    return np.random.default_rng(seed).integers(sentences, size=(draws, sentences))


def interval(value: float, scores: np.ndarray) -> Interval:
    """Return a score with its 95 % interval, computed from the scores of the bootstrap resamples `(draws,)`."""
    return Interval(float(value), *map(float, np.percentile(scores, _EDGES)))
