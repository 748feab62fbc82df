"""Maps whose cells hold another number than the weight, with the rows, columns and masks of the maps of weights."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.maps.maps import EagerMaps, Maps


@dataclass(frozen=True, eq=False)
class MeasuredMaps(Maps):
    """`of_layer(layer)` are the maps of one layer, which is layer 0 of them; `weights_of` those of weights, whose
    thumbnails stand for all.
    """

    weights_of: Maps = field(kw_only=True)
    of_layer: Callable[[int], EagerMaps] = field(kw_only=True)

    @classmethod
    def beside(cls, maps: Maps, of_layer: Callable[[int], EagerMaps], *, left_out: str) -> "MeasuredMaps":
        """Numbers beside maps of weights; `left_out` is their own sentence for the legend."""
        told = vars(maps.labels) | {"left_out": left_out, "to_sink": False}
        return cls(**told, weights_of=maps, of_layer=of_layer)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""
        return self.weights_of.shape

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """The numbers of every head."""
        return torch.cat([self.of_layer(layer).attn for layer in range(self.shape[0])])

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """One head's numbers, or a mean of them."""
        layers, _ = self.at(layer, head)
        parts = [self.of_layer(at).weights(0, head) for at in range(self.shape[0])[layers]]
        return torch.stack(parts).mean(dim=0)

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Those of the weights."""
        return self.weights_of.thumbnails(side)
