"""The strongest attention weights of many heads, as lines between tokens."""

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
    """The lines of all heads in one list, ordered by layer, head and row.

    `starts` `(layers * heads * rows + 1,)` holds where each row's lines begin and end. `cols` and float32 `weights`
    have one entry for each line. `shares` `(layers, heads)` is the part of each head's total weight that its lines
    carry. `threshold` is the smallest weight that is included.
    """

    starts: np.ndarray
    cols: np.ndarray
    weights: np.ndarray
    shares: np.ndarray
    threshold: float


def strongest_lines(layers: Iterable[np.ndarray], budget: int = BUDGET) -> LinkLines:
    """Return the visible lines of the weights `(heads, rows, cols)` of each layer, at most about `budget` in total.

    Only one layer's weights are in memory at a time, because those of a long text are large.
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
    """The lines of one layer with weights of at least `threshold`; `places` are flat indices into `shape`."""

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
    """Return the lowest threshold at which the number of weights is within the budget."""
    return next((step for step in _LADDER if np.count_nonzero(weights >= step) <= budget), _LADDER[-1])
