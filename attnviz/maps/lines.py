"""The strongest weights of many heads, drawn as lines between tokens."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

FAINTEST = 0.5 / 255


BUDGET = 250_000  # lines, of six bytes each


_LADDER = (FAINTEST, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.024, 0.032, 0.048, 0.064, 0.1, 0.15, 0.22, 0.33, 0.5)


@dataclass(frozen=True, eq=False)
class LinkLines:
    """The lines of all heads, row after row.

    `starts`, `(layers * heads * rows + 1,)`, says where the lines of each row begin and end; `cols` and `weights`
    (float32) have one entry per line. `shares`, `(layers, heads)`, is the share of each head's weight that its lines
    carry. `threshold` is the smallest weight drawn.
    """

    starts: np.ndarray
    cols: np.ndarray
    weights: np.ndarray
    shares: np.ndarray
    threshold: float


def strongest_lines(layers: Iterable[np.ndarray], budget: int = BUDGET) -> LinkLines:
    """Find the visible lines of `(heads, rows, cols)` weights, layer by layer: about `budget` lines in all."""
    readers = []
    for attn in layers:
        readers.append(reader := LineReader(attn.shape, budget))
        reader.read(slice(0, attn.shape[0]), slice(0, attn.shape[1]), slice(0, attn.shape[2]), attn)
    return join_lines(readers, budget)


class LineReader:
    """Find the visible lines of one layer from blocks of its weights, `(heads, rows, cols)`.

    The weights of a long text are thus never in memory all at once.
    """

    def __init__(self, shape: tuple[int, ...], budget: int) -> None:
        self._shape, self._budget, self._threshold = (shape[0], shape[1], shape[2]), budget, FAINTEST
        self._places: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []
        self._totals = np.zeros(shape[0])

    def read(self, heads: slice, rows: slice, cols: slice, attn: np.ndarray) -> None:
        """Add the lines of a block: the weights of the given heads, rows and columns."""
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
        """Return the lines of the blocks read so far, about `budget` lines at most."""
        places = np.concatenate(self._places) if self._places else np.zeros(0, dtype=np.int64)
        weights = np.concatenate(self._weights) if self._weights else np.zeros(0, dtype=np.float32)
        order = np.argsort(places, kind="stable")
        found = _Layer(self._shape, places[order], weights[order], self._totals, self._threshold)
        least = _lowest_threshold(found.weights, self._budget)
        return found.raise_threshold(least) if least > self._threshold else found


def join_lines(readers: Iterable[LineReader], budget: int = BUDGET) -> LinkLines:
    """Join the lines of all layers, about `budget` lines in all."""
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
    """The lines of one layer with weights from `threshold` on.

    `places` are the numbers of their cells, counted head by head and row by row.
    """

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
    """Return the first threshold of the ladder that leaves at most `budget` weights."""
    return next((step for step in _LADDER if np.count_nonzero(weights >= step) <= budget), _LADDER[-1])
