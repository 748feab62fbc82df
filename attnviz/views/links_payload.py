"""What the Links component is handed: every head as a small square, and the lines between tokens that can be seen.

A line is as opaque as its weight is large. One below `FAINTEST` would change no pixel by a single step of 255, so that
it is not sent; where a long text has more lines than the budget, the faintest of all go, and the header says from
which weight on lines are there and what share of each head's weight they carry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.tracing.thumbnails import thumbnail
from attnviz.views.binary import Blobs
from attnviz.views.tab_payload import closing, opening

if TYPE_CHECKING:
    from attnviz.tracing.shown import Shown

FAINTEST = 0.5 / 255
BUDGET = 250_000  # lines, of six bytes each
SQUARE = 24  # cells of a head's square
_LADDER = (FAINTEST, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.024, 0.032, 0.048, 0.064, 0.1, 0.15, 0.22, 0.33, 0.5)


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of all heads, row after row: those of row r of head h of layer l lie between two `starts`.

    `starts` is `(layers * heads * rows + 1,)`; `cols` and float32 `weights` have an entry a line. `shares` is the part
    of each head's weight that its lines carry, `(layers, heads)`; `threshold` the least weight that is there.
    """

    starts: np.ndarray
    cols: np.ndarray
    weights: np.ndarray
    shares: np.ndarray
    threshold: float


def strongest(attn: np.ndarray, budget: int = BUDGET) -> Lines:
    """The lines of `(layers, heads, rows, cols)` weights that can be seen, and no more than `budget` if it can be."""
    layers, heads, rows, cols = attn.shape
    flat = np.ascontiguousarray(attn).reshape(-1)
    visible = np.flatnonzero(flat >= FAINTEST)
    weights = flat[visible]
    threshold = next((step for step in _LADDER if np.count_nonzero(weights >= step) <= budget), _LADDER[-1])
    kept = weights >= threshold
    visible, weights = visible[kept], weights[kept]
    counts = np.bincount(visible // cols, minlength=layers * heads * rows)
    sums = np.bincount(visible // (rows * cols), weights=weights, minlength=layers * heads)
    total = np.maximum(attn, 0).sum(axis=(2, 3), dtype=np.float64).reshape(-1)
    shares = np.divide(sums, total, out=np.ones_like(sums), where=total > 0)
    return Lines(
        starts=np.concatenate([[0], counts.cumsum()]).astype("<u4"),
        cols=(visible % cols).astype("<u2"),
        weights=weights.astype("<f4"),
        shares=shares.reshape(layers, heads),
        threshold=threshold,
    )


def links_payload(maps: "Shown", kinds: Sequence[str], *, view: dict[str, Any], budget: int = BUDGET) -> bytes:
    """The bytes that the Links component draws from.

    Args:
        maps: the kind that is open, as it is shown.
        kinds: all kinds that there are.
        view: which heads are chosen, which token is held, how opacity is scaled; as the component reports it.
        budget: about how many lines of all heads together are sent.
    """
    blobs = Blobs()
    lines = strongest(maps.attn.numpy(), budget)
    squares = np.stack([thumbnail(attn.clamp(0, 1), SQUARE).numpy() for attn in maps.attn])
    header = opening(maps.kind, kinds, blobs) | {
        "shape": list(maps.attn.shape),
        "rows": [[row.input, row.output] for row in maps.rows],
        "cols": [col.text for col in maps.cols],
        "squares": {"offset": blobs.add(squares), "height": squares.shape[2], "width": squares.shape[3]},
        "starts": blobs.add(lines.starts),
        "line_cols": blobs.add(lines.cols),
        "line_weights": blobs.add(lines.weights),
        "count": len(lines.cols),
        "threshold": lines.threshold,
        "shares": [[round(float(share), 5) for share in layer] for layer in lines.shares],
        "left_out": maps.left_out,
    }
    return closing(header, view, blobs)
