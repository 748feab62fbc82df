"""One kind's maps with a label for every row and column, as figures, tables and widgets draw them. They run
no model.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.maps.grouping import ColLabel, RowLabel, mean_of_visible
from attnviz.tracing.thumbnails import clip_weights, thumbnail
from attnviz.transformer.probe import Kind


@dataclass(frozen=True, eq=False)
class MapLabels:
    """Labels and masks of a kind's maps, without the weights.

    mask is bool, True = may attend, with 1 for layers or heads where it is the same for all of them. `left_out` is a
    sentence for the legend, "" when nothing is hidden. With `to_sink`, what a row lacks of 1 went to its head's sink, a
    place that is no token. `keyless` says which rows see no key whatever is shown, hidden
    ones counted; None where nothing is hidden.
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
        """The labels alone, without any weights."""
        return MapLabels(**{own.name: getattr(self, own.name) for own in fields(MapLabels)})

    @property
    def rows_with_keys_hidden(self) -> Bool[Tensor, " rows"]:
        """Rows that see keys, though none that is shown: the keys are special tokens, and these are hidden."""
        without = ~self.mask.any(dim=-1)
        return (without & ~(without if self.keyless is None else self.keyless)).flatten(0, 1).any(dim=0)


class Maps(MapLabels, ABC):
    """One kind's maps; all of them in memory (`EagerMaps`), or computed when they are asked for (`LazyMaps`).

    "mean" for a layer or head averages over all of them; what is out of range is a ValueError.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""

    @abstractmethod
    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Return the weights of every head, float32."""

    @abstractmethod
    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return one head's map, or a mean."""

    @abstractmethod
    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return every head in eight bits, at most `side` cells a side."""

    def visible_cells(self, layer: int | str, head: int | str) -> Bool[Tensor, "rows cols"]:
        """Return the cells where a map may attend: for a mean, where any of its heads may."""
        return self.masks(layer, head).flatten(0, 1).any(dim=0)

    def masks(self, layer: int | str, head: int | str) -> Bool[Tensor, "layers heads rows cols"]:
        """Return the masks of the chosen heads."""
        return self.mask.expand(*self.shape[:2], -1, -1)[self.index(layer, head)]

    def index(self, layer: int | str, head: int | str) -> tuple[slice, slice]:
        """Return slices of the chosen layers and heads."""
        return _range("layer", layer, self.shape[0]), _range("head", head, self.shape[1])


@dataclass(frozen=True, eq=False)
class EagerMaps(Maps):
    """Maps of which `attn`, float32 `(layers, heads, rows, cols)`, is all in memory."""

    attn: Float[Tensor, "layers heads rows cols"] = field(kw_only=True)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""
        layers, heads, rows, cols = self.attn.shape
        return layers, heads, rows, cols

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Return the weights of every head."""
        return self.attn

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return one head's map, or a mean."""
        return mean_of_visible(self.attn[self.index(layer, head)], self.masks(layer, head), dims=(0, 1))

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Every head in eight bits; weights below 0 or above 1 are drawn as 0 and 1."""
        return torch.stack([thumbnail(clip_weights(attn), side) for attn in self.attn])


def _range(name: str, choice: int | str, size: int) -> slice:
    if choice == "mean":
        return slice(None)
    if isinstance(choice, bool) or not isinstance(choice, int) or not 0 <= choice < size:
        raise ValueError(f"{name} is 0 to {size - 1} or 'mean', not {choice!r}.")
    return slice(choice, choice + 1)
