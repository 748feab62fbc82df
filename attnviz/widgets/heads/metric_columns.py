"""The heads' metrics as two bytes a number: all of them at once go to the browser with every sentence."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from attnviz.analysis.heads.metric_table import METRICS, Columns
from attnviz.widgets.wire import Blobs

STEPS = 65534  # the code above them says that there is no number


def metric_columns(metrics: pd.DataFrame | Columns, kinds: Iterable[str], blobs: Blobs) -> dict[str, Any]:
    """`names`: name and unit of each metric; `offsets`: for each kind that has numbers, where they lie.

    There lie, for each metric, its least and its greatest value (two float32, NaN where there is none), and after
    them, for each metric, one uint16 a head, layer by layer: 0 for the least, `STEPS` for the greatest and 65535 for
    no number. A number is off by at most a 131,068th of its metric's range, far below the digits that are shown.
    """
    names = [name for name in metrics if name not in ("kind", "layer", "head", "model_layer")]
    of_kind, layers, heads = (np.asarray(metrics[name]) for name in ("kind", "layer", "head"))
    values = np.array([np.asarray(metrics[name], dtype=float) for name in names]).reshape(len(names), len(of_kind))
    order = np.lexsort((heads, layers))
    rows_of = {kind: order[of_kind[order] == kind] for kind in kinds}
    units = {name: metric.unit for name, metric in METRICS.items()}
    return {
        "names": [[name, units.get(name, "")] for name in names],
        "offsets": {kind: _pack(values[:, rows], blobs) for kind, rows in rows_of.items() if len(rows)},
    }


def _pack(values: np.ndarray, blobs: Blobs) -> int:
    finite = np.isfinite(values)
    low = np.where(finite, values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(finite, values, -np.inf).max(axis=1, initial=-np.inf)
    range_ = np.stack([low, high], axis=1)
    range_[low > high] = np.nan
    size = np.where(high > low, high - low, 1.0)
    parts = np.where(finite, values - np.where(finite, low[:, None], 0.0), 0.0) / size[:, None]
    codes = np.where(finite, np.rint(parts * STEPS), STEPS + 1)
    offset = blobs.add(range_.astype("<f4"))
    blobs.add(codes.astype("<u2"))
    return offset
