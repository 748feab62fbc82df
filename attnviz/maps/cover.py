"""Maps whose telling part is covered: what is covered is not in them, so that nobody can read it before its time."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.maps.maps import Maps
from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class Cover:
    """What is covered of a kind: these heads, or all (None); of them these query tokens' rows, or all (None). `said`
    says what ends it.
    """

    kind: Kind
    heads: tuple[tuple[int, int], ...] | None = None
    tokens: frozenset[int] | None = None
    said: str = "Covered until the question is answered."

    def holds(self, layer: int | str, head: int | str) -> bool:
        """Whether a map, or a mean that has such a head in it, is covered."""
        return self.heads is None or any(layer in (own, "mean") and head in (of, "mean") for own, of in self.heads)

    def rows(self, maps: Maps) -> list[int]:
        """The rows of a map of this kind that are covered."""
        every = range(len(maps.rows))
        return [at for at in every if self.tokens is None or self.tokens & set(maps.rows[at].tokens)]


@dataclass(frozen=True, eq=False)
class CoveredMaps(Maps):
    """Maps of the cover's kind, with 0 wherever they are covered; such a head's small picture is 0 throughout."""

    under: Maps = field(kw_only=True)
    cover: Cover = field(kw_only=True)

    @classmethod
    def of(cls, maps: Maps, cover: Cover) -> "CoveredMaps":
        """These maps under that cover."""
        return cls(**vars(maps.labels), under=maps, cover=cover)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""
        return self.under.shape

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """The weights of every head; the rows that are covered are 0."""
        found = self.under.all_heads().clone()
        for layer, head in self.heads():
            found[layer, head, self.cover.rows(self.under)] = 0
        return found

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """One head's map, or a mean; the rows that are covered are 0."""
        found = self.under.weights(layer, head)
        if self.cover.holds(layer, head):
            found = found.clone()
            found[self.cover.rows(self.under)] = 0
        return found

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Every head in eight bits; a head that is covered anywhere is 0."""
        found = self.under.thumbnails(side).clone()
        for layer, head in self.heads():
            found[layer, head] = 0
        return found

    def heads(self) -> list[tuple[int, int]]:
        """The heads that are covered, as far as there are such."""
        layers, heads, *_ = self.shape
        every = torch.cartesian_prod(torch.arange(layers), torch.arange(heads)).reshape(-1, 2).tolist()
        return [(layer, head) for layer, head in every if self.cover.holds(layer, head)]
