"""The maps of one kind with a label for every row and column, as figures, tables and widgets draw them.

This file runs no model.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, fields

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.maps.grouping import ColLabel, RowLabel, mean_of_visible
from attnviz.tracing.thumbnails import thumbnail
from attnviz.transformer.probe import Kind
from attnviz.transformer.row_blocks import RowBlock, blocks_of_maps


@dataclass(frozen=True, eq=False)
class MapLabels:
    """The labels and masks of a kind's maps, without the weights.

    `mask` is bool, True = may attend, with size 1 for layers or heads if it is the same for all of them. `left_out` is
    a sentence for the legend, "" when nothing is hidden. With `to_sink`, the weight by which a row falls short of 1
    went to its head's attention sink, which is not a token. `keyless` marks the rows that see no key at all, even if
    hidden keys are counted; it is None when nothing is hidden.
    """

    kind: Kind
    mask: Bool[Tensor, "_ _ rows cols"]
    rows: tuple[RowLabel, ...]
    cols: tuple[ColLabel, ...]
    left_out: str = ""
    to_sink: bool = False
    keyless: Bool[Tensor, "_ _ rows"] | None = None

    @property
    def labels(self) -> "MapLabels":
        """The labels and masks alone, without weights."""
        return MapLabels(**{own.name: getattr(self, own.name) for own in fields(MapLabels)})

    @property
    def rows_with_keys_hidden(self) -> Bool[Tensor, " rows"]:
        """Rows that see keys, but only hidden ones, because these keys are special tokens."""
        without = ~self.mask.any(dim=-1)
        return (without & ~(without if self.keyless is None else self.keyless)).flatten(0, 1).any(dim=0)


class Maps(MapLabels, ABC):
    """The maps of one kind, all in memory (`EagerMaps`) or computed when they are asked for (`LazyMaps`).

    A layer or head "mean" is the average over all of them. An index out of range raises ValueError.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int, int]:
        """Number of layers, heads, rows and columns."""

    @abstractmethod
    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Return the weights of every head, in float32."""

    @abstractmethod
    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return the map of one head, or a mean of maps."""

    def weight_blocks(self, layer: int | str, head: int | str) -> Iterator[RowBlock]:
        """Yield the map of one head, or a mean of maps, in blocks of rows; a block has one map."""
        return blocks_of_maps(self.weights(layer, head).unsqueeze(0))

    @abstractmethod
    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return thumbnails of all heads in eight bits, with at most `side` rows and columns."""

    def visible_cells(self, layer: int | str, head: int | str) -> Bool[Tensor, "rows cols"]:
        """Return the cells where a map may attend; for a mean, the cells where any of its heads may."""
        sites = zip(self.index(layer, head), self.mask.shape, strict=False)
        found = self.mask[tuple(slice(None) if size == 1 else chosen for chosen, size in sites)].flatten(0, 1)
        return found[0] if len(found) == 1 else found.any(dim=0)

    def masks(self, layer: int | str, head: int | str) -> Bool[Tensor, "layers heads rows cols"]:
        """Return the masks of the chosen heads."""
        return self.mask.expand(*self.shape[:2], -1, -1)[self.index(layer, head)]

    def index(self, layer: int | str, head: int | str) -> tuple[slice, slice]:
        """Return slices of the chosen layers and heads."""
        return _range("layer", layer, self.shape[0]), _range("head", head, self.shape[1])


@dataclass(frozen=True, eq=False)
class EagerMaps(Maps):
    """Maps whose weights `attn`, float32 `(layers, heads, rows, cols)`, are all in memory."""

    attn: Float[Tensor, "layers heads rows cols"] = field(kw_only=True)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Number of layers, heads, rows and columns."""
        layers, heads, rows, cols = self.attn.shape
        return layers, heads, rows, cols

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Return the weights of every head."""
        return self.attn

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return the map of one head, or a mean of maps."""
        return mean_of_visible(self.attn[self.index(layer, head)], self.masks(layer, head), dims=(0, 1))

    def blocks(self, layer: int) -> Iterator[RowBlock]:
        """Yield the weights of a layer in blocks of rows."""
        return blocks_of_maps(self.attn[layer])

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return thumbnails of all heads in eight bits; weights below 0 or above 1 are drawn as 0 or 1."""
        return torch.stack([thumbnail(attn, side) for attn in self.attn])


def _range(name: str, choice: int | str, size: int) -> slice:
    if choice == "mean":
        return slice(None)
    if isinstance(choice, bool) or not isinstance(choice, int) or not 0 <= choice < size:
        raise ValueError(f"{name} must be a number from 0 to {size - 1} or 'mean', not {choice!r}.")
    return slice(choice, choice + 1)
