"""A whole tensor as a table: a line for each number, its place along every axis, and the tokens that stand there."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

MOST_LINES = 100_000
Tokens = Mapping[str, Sequence[Sequence[str]]]


def tensor_table(
    tensor: np.ndarray, axes: Sequence[str], *, head: int = 0, tokens: Tokens | None = None
) -> pd.DataFrame:
    """Columns: each axis by name, the token at each axis that `tokens` knows (a list for each sentence), and `value`.

    Over `MOST_LINES` numbers only `head` is listed where there are heads, and over that only the first sentence; the
    columns say so. Raises ValueError where the names are not as many as the axes.
    """
    if len(axes) != tensor.ndim:
        raise ValueError(f"A tensor of {tensor.ndim} axes needs as many names, not {len(axes)}.")
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
            names = [sentences[item % len(sentences)][place] for item, place in zip(items, table[axis], strict=True)]
            table[f"{axis} token"] = names
    return table.assign(value=tensor.ravel())
