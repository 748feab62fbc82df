"""The strongest weights of many heads, as lines between tokens."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    pass

FAINTEST = 0.5 / 255


BUDGET = 250_000  # lines, of six bytes each


_LADDER = (FAINTEST, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.024, 0.032, 0.048, 0.064, 0.1, 0.15, 0.22, 0.33, 0.5)


@dataclass(frozen=True, eq=False)
class LinkLines:
    """The lines of all heads, row after row: those of row r of head h of layer l lie between two `starts`.

    `starts` is `(layers * heads * rows + 1,)`; `cols` and float32 `weights` have an entry a line. `shares` is the part
    of each head's weight that its lines carry, `(layers, heads)`; `threshold` the least weight that is there.
    """

    starts: np.ndarray
    cols: np.ndarray
    weights: np.ndarray
    shares: np.ndarray
    threshold: float


def strongest_lines(layers: Iterable[np.ndarray], budget: int = BUDGET) -> LinkLines:
    """Find the visible lines of `(heads, rows, cols)` weights, layer by layer: about `budget` of them at most.

    One layer's weights are looked at at a time, so that a long text's never lie in memory all at once.
    """
    parts = [_visible_lines(attn, budget) for attn in layers]
    every = np.concatenate([part.weights for part in parts])
    threshold = max(_lowest_threshold(every, budget), *(part.threshold for part in parts))
    kept = [part.raise_threshold(threshold) for part in parts]
    counts = np.concatenate([part.counts for part in kept])
    return LinkLines(
        starts=np.concatenate([[0], counts.cumsum()]).astype("<u4"),
        cols=np.concatenate([part.cols for part in kept]).astype("<u2"),
        weights=np.concatenate([part.weights for part in kept]).astype("<f4"),
        shares=np.stack([part.shares for part in kept]),
        threshold=threshold,
    )


@dataclass(frozen=True, eq=False)
class _Layer:
    """One layer's lines from `threshold` on: `places` count its cells, head by head and row by row."""

    shape: tuple[int, int, int]
    places: np.ndarray
    weights: np.ndarray
    totals: np.ndarray
    threshold: float

    def raise_threshold(self, threshold: float) -> "_Layer":
        kept = self.weights >= threshold
        return replace(self, places=self.places[kept], weights=self.weights[kept], threshold=threshold)

    @property
    def cols(self) -> np.ndarray:
        return self.places % self.shape[2]

    @property
    def counts(self) -> np.ndarray:
        return np.bincount(self.places // self.shape[2], minlength=self.shape[0] * self.shape[1])

    @property
    def shares(self) -> np.ndarray:
        heads, rows, cols = self.shape
        sums = np.bincount(self.places // (rows * cols), weights=self.weights, minlength=heads).astype(np.float64)
        return np.divide(sums, self.totals, out=np.ones_like(sums), where=self.totals > 0)


def _visible_lines(attn: np.ndarray, budget: int) -> _Layer:
    heads, rows, cols = attn.shape
    flat = np.ascontiguousarray(attn).reshape(-1)
    places = np.flatnonzero(flat >= FAINTEST)
    totals = np.where(flat < 0, 0, flat) if places.size and flat.min() < 0 else flat
    totals = totals.reshape(heads, rows * cols).sum(axis=1).astype(np.float64)
    layer = _Layer((heads, rows, cols), places, flat[places], totals, FAINTEST)
    least = _lowest_threshold(layer.weights, budget)
    return layer.raise_threshold(least) if least > FAINTEST else layer


def _lowest_threshold(weights: np.ndarray, budget: int) -> float:
    """Find the first threshold at which no more weights are left than the budget allows."""
    return next((step for step in _LADDER if np.count_nonzero(weights >= step) <= budget), _LADDER[-1])
