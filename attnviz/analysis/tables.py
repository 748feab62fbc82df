"""Maps and tensors as tables of their values, for reading, sorting and CSV."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from attnviz.maps.maps import Maps
from attnviz.text.entries import columns_of, entry_columns


def weights_table(shown: Maps, layer: int | str, head: int | str) -> pd.DataFrame:
    """Return a table of one map with one row per cell; "mean" for layer or head averages over them.

    The columns are `row` and `key_position`, counted from 0 as shown; `row_in`, `row_out` ("" in an encoder, which
    outputs no tokens) and `key` as display texts; `weight`, float32; `masked`, True if the row may not see the key;
    `row_to_sink`, the row's weight on the sink, if heads have sinks; and, if known, the piece and id of each of the
    three tokens (`attnviz.text.entries.entry_columns`). Raise ValueError for a layer or head that does not exist.
    """
    weights, visible = shown.weights(layer, head), shown.visible_cells(layer, head)
    rows, cols = weights.shape
    sunk = {"row_to_sink": np.repeat((1 - weights.sum(dim=-1)).numpy(), cols)} if shown.to_sink else {}
    table = pd.DataFrame(
        {
            "row": np.repeat(np.arange(rows), cols),
            "row_in": [row.input or "" for row in shown.rows for _ in range(cols)],
            "row_out": [row.output or "" for row in shown.rows for _ in range(cols)],
            "key_position": np.tile(np.arange(cols), rows),
            "key": [col.text for col in shown.cols] * rows,
            "weight": weights.flatten().numpy(),
            "masked": ~visible.flatten().numpy(),
            **sunk,
        }
    )
    of_row = entry_columns("row_in", [row.inputs for row in shown.rows]) | entry_columns(
        "row_out", [row.outputs for row in shown.rows]
    )
    of_key = entry_columns("key", [col.keys for col in shown.cols])
    each = {name: np.repeat(values, cols) for name, values in of_row.items()}
    return table.assign(**each, **{name: np.tile(values, rows) for name, values in of_key.items()})


MOST_LINES = 100_000
Tokens = Mapping[str, Sequence[Sequence[str]]]


def tensor_table(
    tensor: np.ndarray, axes: Sequence[str], *, head: int = 0, tokens: Tokens | None = None
) -> pd.DataFrame:
    """Return a table of a tensor with one row per value.

    The columns are the index along each dimension, the token at each dimension that `tokens` contains (a list for each
    sentence), and `value`. With more than `MOST_LINES` values, only `head` is listed, and, if that is still too many,
    only the first sentence. Raise ValueError if the number of names differs from the number of dimensions.
    """
    if len(axes) != tensor.ndim:
        raise ValueError(f"A tensor with {tensor.ndim} axes needs the same number of axis names, not {len(axes)}.")
    places = [np.arange(size) for size in tensor.shape]
    for axis, only in (("heads", head), ("batch", 0)):
        if tensor.size > MOST_LINES and axis in axes:
            at = axes.index(axis)
            only = min(only, tensor.shape[at] - 1)
            tensor, places[at] = tensor.take([only], axis=at), np.array([only])
    grid = np.meshgrid(*places, indexing="ij")
    table = pd.DataFrame({axis: where.ravel() for axis, where in zip(axes, grid, strict=True)})
    for axis, sentences in (tokens or {}).items():
        if axis in axes and tensor.shape[axes.index(axis)] == len(sentences[0]):
            items = table["batch"] if "batch" in axes else np.zeros(len(table), dtype=int)
            at = zip(items.astype(int), table[axis].astype(int), strict=True)
            names = [sentences[int(item) % len(sentences)][int(place)] for item, place in at]
            table[f"{axis} token"] = list(map(str, names))
            table = table.assign(**columns_of(axis, names))
    return table.assign(value=tensor.ravel())
