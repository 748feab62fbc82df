"""Attention maps with some weights covered: a covered weight is not sent to the browser before it is revealed."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.maps.maps import Maps
from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class Cover:
    """The covered part of a kind's maps: these heads (None: all), and in these heads the rows of these query tokens.

    `tokens` None covers all rows. `said` tells the reader when the cover ends.
    """

    kind: Kind
    heads: tuple[tuple[int, int], ...] | None = None
    tokens: frozenset[int] | None = None
    said: str = "Covered until the question is answered."

    def holds(self, layer: int | str, head: int | str) -> bool:
        """Check whether a map, or a mean over several maps, contains a covered head."""
        return self.heads is None or any(layer in (own, "mean") and head in (of, "mean") for own, of in self.heads)

    def rows(self, maps: Maps) -> list[int]:
        """Return the indices of the covered rows in a map of this kind."""
        every = range(len(maps.rows))
        return [at for at in every if self.tokens is None or self.tokens & set(maps.rows[at].tokens)]


@dataclass(frozen=True, eq=False)
class CoveredMaps(Maps):
    """Maps of the covered kind with 0 in covered cells; the whole thumbnail of a covered head is 0."""

    under: Maps = field(kw_only=True)
    cover: Cover = field(kw_only=True)

    @classmethod
    def cover_rows(cls, maps: Maps, cover: Cover) -> "CoveredMaps":
        """Return the maps with the cover's cells set to 0."""
        return cls(**vars(maps.labels), under=maps, cover=cover)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Number of layers, heads, rows and columns."""
        return self.under.shape

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Return the weights of every head; covered rows are 0."""
        found = self.under.all_heads().clone()
        for layer, head in self.heads():
            found[layer, head, self.cover.rows(self.under)] = 0
        return found

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return the map of one head, or a mean of maps; covered rows are 0."""
        found = self.under.weights(layer, head)
        if self.cover.holds(layer, head):
            found = found.clone()
            found[self.cover.rows(self.under)] = 0
        return found

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return thumbnails of all heads in eight bits; a head with any covered row is 0."""
        found = self.under.thumbnails(side).clone()
        for layer, head in self.heads():
            found[layer, head] = 0
        return found

    def heads(self) -> list[tuple[int, int]]:
        """Return the covered heads as pairs of layer and head."""
        layers, heads, *_ = self.shape
        every = torch.cartesian_prod(torch.arange(layers), torch.arange(heads)).reshape(-1, 2).tolist()
        return [(layer, head) for layer, head in every if self.cover.holds(layer, head)]
