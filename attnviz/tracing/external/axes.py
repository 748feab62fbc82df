"""Check that the axes of attention weights are the tokens of a text."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor


def find_other_axes(layers: Sequence[Any], q_len: int, k_len: int) -> str | None:
    """Describe the first layer that is no `(batch, heads, q_len, k_len)`; None where every layer is."""
    for number, layer in enumerate(layers):
        if not isinstance(layer, Tensor):
            return f"layer {number} is a {type(layer).__name__} and no table of queries and keys"
        if layer.dim() != 4:
            return f"layer {number} has the shape {tuple(layer.shape)}, and not (texts, heads, queries, keys)"
        rows, columns = layer.shape[-2:]
        if rows != q_len:
            return f"layer {number} has {rows} rows for {q_len} tokens"
        if columns != k_len:
            return f"layer {number} has {columns} columns for {k_len} tokens"
    return None
