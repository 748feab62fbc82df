"""The strongest weights of many heads, as lines between tokens."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

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
    """Find the visible lines of `(heads, rows, cols)` weights, layer by layer: about `budget` of them at most."""
    readers = []
    for attn in layers:
        readers.append(reader := LineReader(attn.shape, budget))
        reader.read(slice(0, attn.shape[0]), slice(0, attn.shape[1]), slice(0, attn.shape[2]), attn)
    return join_lines(readers, budget)


class LineReader:
    """Finds the visible lines of a layer in blocks of its `(heads, rows, cols)` weights: a long text's weights never
    lie in memory all at once.
    """

    def __init__(self, shape: tuple[int, ...], budget: int) -> None:
        self._shape, self._budget, self._threshold = (shape[0], shape[1], shape[2]), budget, FAINTEST
        self._places: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []
        self._totals = np.zeros(shape[0])

    def read(self, heads: slice, rows: slice, cols: slice, attn: np.ndarray) -> None:
        """Take the lines of a block: the weights of these heads, rows and columns."""
        (_, n_rows, n_cols), flat = self._shape, np.ascontiguousarray(attn).reshape(-1)
        at = np.flatnonzero(flat >= self._threshold)
        self._weights.append(flat[at])
        head, cell = np.divmod(at, max(1, attn.shape[1] * attn.shape[2]))
        row, col = np.divmod(cell, max(1, attn.shape[2]))
        self._places.append(((head + heads.start) * n_rows + row + rows.start) * n_cols + col + cols.start)
        positive = np.where(attn < 0, 0, attn) if attn.size and attn.min() < 0 else attn
        self._totals[heads] += positive.reshape(len(attn), -1).sum(axis=1)
        if sum(map(len, self._weights)) > 2 * self._budget:
            self._places, self._weights = [(kept := self.layer()).places], [kept.weights]
            self._threshold = kept.threshold

    def layer(self) -> "_Layer":
        """Return the lines of all blocks that were read, at most as many as the budget allows."""
        places = np.concatenate(self._places) if self._places else np.zeros(0, dtype=np.int64)
        weights = np.concatenate(self._weights) if self._weights else np.zeros(0, dtype=np.float32)
        order = np.argsort(places, kind="stable")
        found = _Layer(self._shape, places[order], weights[order], self._totals, self._threshold)
        least = _lowest_threshold(found.weights, self._budget)
        return found.raise_threshold(least) if least > self._threshold else found


def join_lines(readers: Iterable[LineReader], budget: int = BUDGET) -> LinkLines:
    """Join the lines of all layers: about `budget` of them at most."""
    parts = [reader.layer() for reader in readers]
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


def _lowest_threshold(weights: np.ndarray, budget: int) -> float:
    """Find the first threshold at which no more weights are left than the budget allows."""
    return next((step for step in _LADDER if np.count_nonzero(weights >= step) <= budget), _LADDER[-1])
