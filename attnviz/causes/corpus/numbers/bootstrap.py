"""Intervals of a score over sentences: the same sentences drawn again at random, with replacement (bootstrap, 95 %)."""

from typing import NamedTuple

import numpy as np

DRAWS = 1_000
_EDGES = (2.5, 97.5)


class Interval(NamedTuple):
    """A score, and where it lies for 95 % of the draws."""

    value: float
    low: float
    high: float


def draw_sentences(sentences: int, *, draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """Numbers of sentences drawn with replacement `(draws, sentences)`; the same for the same seed."""
    return np.random.default_rng(seed).integers(sentences, size=(draws, sentences))


def interval(value: float, scores: np.ndarray) -> Interval:
    """Compute the score of all sentences, and the edges of those of the draws `(draws,)`."""
    return Interval(float(value), *map(float, np.percentile(scores, _EDGES)))
