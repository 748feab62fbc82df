"""Maps of a quantity other than the attention weight, with the rows, columns and masks of the attention maps."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.maps.maps import EagerMaps, Maps


@dataclass(frozen=True, eq=False)
class MeasuredMaps(Maps):
    """Maps of another quantity than the attention weight.

    `of_layer(layer)` returns the maps of one layer, which is layer 0 in the result. `weights_of` are the attention
    maps; they also provide the thumbnails.
    """

    weights_of: Maps = field(kw_only=True)
    of_layer: Callable[[int], EagerMaps] = field(kw_only=True)

    @classmethod
    def from_maps(cls, maps: Maps, of_layer: Callable[[int], EagerMaps], *, left_out: str) -> "MeasuredMaps":
        """Create maps of a quantity with the rows and columns of attention maps; `left_out` is a sentence for the
        legend.
        """
        told = vars(maps.labels) | {"left_out": left_out, "to_sink": False}
        return cls(**told, weights_of=maps, of_layer=of_layer)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Number of layers, heads, rows and columns."""
        return self.weights_of.shape

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Return the values of every head."""
        return torch.cat([self.of_layer(layer).attn for layer in range(self.shape[0])])

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return the values of one head, or a mean of values."""
        layers, _ = self.index(layer, head)
        parts = [self.of_layer(at).weights(0, head) for at in range(self.shape[0])[layers]]
        return torch.stack(parts).mean(dim=0)

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return the thumbnails of the attention weights."""
        return self.weights_of.thumbnails(side)
