"""A map as a table: the same numbers as the picture, for reading, sorting and CSV."""

import numpy as np
import pandas as pd

from attnviz.tracing.long_shown import LongShown
from attnviz.tracing.shown import Shown


def weights_table(shown: Shown | LongShown, layer: int | str, head: int | str) -> pd.DataFrame:
    """One line a cell of one map, row by row; "mean" for layer or head averages over them.

    Columns: `row` and `key_position`, counted from 0 as shown; `row_in`, `row_out` ("" in an encoder, which puts out no
    tokens) and `key`, display strings; `weight`, float32; `masked`, True where the row may not see the key.
    Raises ValueError for a layer or head that is not there.
    """
    weights, visible = shown.weights(layer, head), shown.visible(layer, head)
    rows, cols = weights.shape
    return pd.DataFrame(
        {
            "row": np.repeat(np.arange(rows), cols),
            "row_in": [row.input or "" for row in shown.rows for _ in range(cols)],
            "row_out": [row.output or "" for row in shown.rows for _ in range(cols)],
            "key_position": np.tile(np.arange(cols), rows),
            "key": [col.text for col in shown.cols] * rows,
            "weight": weights.flatten().numpy(),
            "masked": ~visible.flatten().numpy(),
        }
    )
