"""The leak test's maps as HTML tables, for where no script of Plotly's is: on the same scale as `leak_figure`."""

import math
from collections.abc import Sequence

import numpy as np

from attnviz.views.masks.figures import FLOOR
from attnviz.views.site.panel_tables import MOST_WRITTEN, cell, map_tables


def leak_tables(changes: Sequence[tuple[str, np.ndarray]], tokens: Sequence[str]) -> str:
    """Draw max |Δ| of every position's decoder output, a table a case: rows are layers, the embedding first.

    `changes` are (title, `(layers + 1, length)`); shades are logarithmic from `FLOOR`, the same for all; cells that did
    not change by a single bit are blank.
    """
    top = max(float(change.max()) for _, change in changes)
    names = ["embedding", *(f"L{layer}" for layer in range(len(changes[0][1]) - 1))]
    maps = [
        (title, [[_cell(float(one), top, len(line)) for one in line] for line in change]) for title, change in changes
    ]
    return map_tables(maps, names, tokens)


def _cell(change: float, top: float, n_cols: int) -> str:
    if change == 0:
        return cell(0.0, "0, bitwise equal", "")
    floor = math.log10(FLOOR)
    share = (math.log10(max(change, FLOOR)) - floor) / max(1e-9, math.log10(max(top, FLOOR)) - floor)
    return cell(max(0.05, share), f"{change:.3g}", _short(change) if n_cols <= MOST_WRITTEN else "")


def _short(change: float) -> str:
    """Write a change in the four signs that a cell has room for."""
    if change >= 10:
        return f"{change:.0f}"
    if change >= 0.01:
        return f"{change:.2f}".replace("0.", ".", 1) if change < 1 else f"{change:.1f}"
    return f"{change:.3f}".replace("0.", ".", 1) if change >= 0.001 else f"{change:.0e}".replace("-0", "−")
