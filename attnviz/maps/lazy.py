"""A long text's maps of one kind, as a person asked to see them, without all of them ever being in memory at once.

Every head of twelve layers on 1,024 tokens is 600 MB. What must be known of all of them is looked at once, a layer at
a time, and is small; a map itself is computed when it is asked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.maps.maps import EagerMaps, MapLabels, Maps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN, select
from attnviz.tracing.thumbnails import thumbnail, within
from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind


def layer_by_layer(trace: TraceLike, kind: Kind) -> Iterator[TraceLike]:
    """Traces of one layer each, which is layer 0 of them, with the same tokens; of one kind only."""
    return (trace.one_layer(kind, layer) for layer in range(trace.shape(kind)[0]))


Look = Callable[[int, EagerMaps, TraceLike], None]


@dataclass(frozen=True, eq=False)
class MapsOverview:
    """What is known of a kind's maps once every layer was looked at; `thumbnails` have at most `side` cells a side."""

    labels: MapLabels
    side: int
    thumbnails: UInt8[Tensor, "layers heads rows cols"]

    def maps(self, trace: TraceLike, options: MapOptions) -> "LazyMaps":
        """The maps of the trace that was looked at, asked for with the same options."""
        return LazyMaps(**vars(self.labels), overview=self, trace=trace, options=options)


@dataclass(frozen=True, eq=False)
class LazyMaps(Maps):
    """Maps that are computed from `trace` when they are asked for, a layer at a time."""

    overview: MapsOverview = field(kw_only=True)
    trace: TraceLike = field(kw_only=True)
    options: MapOptions = field(kw_only=True)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""
        return *self.trace.shape(self.kind), len(self.rows), len(self.cols)

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """All maps at once, which a long text has no need of: `shape` says how large they are."""
        return torch.cat([layer.attn for layer in self._layers()])

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """One head's map, or a mean."""
        if isinstance(layer, int):
            return self._layer(layer).weights(0, head)
        sums, counts = torch.zeros(()), torch.zeros(())
        self.at(layer, head)  # what is out of range is said before anything is computed
        for one in self._layers():
            attn, mask = one.attn[one.at("mean", head)], one.masks("mean", head)
            sees = mask.any(dim=-1, keepdim=True).expand(*attn.shape[:-1], 1)
            sums, counts = sums + attn.sum(dim=(0, 1)), counts + sees.sum(dim=(0, 1))
        return sums / counts.clamp(min=1)

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Every head in eight bits: those of the overview, where it was made with as many cells a side."""
        if side == self.overview.side:
            return self.overview.thumbnails
        return torch.stack([thumbnail(within(layer.attn[0]), side) for layer in self._layers()])

    def _layers(self) -> Iterator[EagerMaps]:
        return map(self._layer, range(self.shape[0]))

    def _layer(self, layer: int) -> EagerMaps:
        return select(self.trace.one_layer(self.kind, layer), self.kind, self.options)


def maps_overview(
    trace: TraceLike, kind: Kind, options: MapOptions = EVERY_TOKEN, *, side: int, look: Look | None = None
) -> MapsOverview:
    """Look at every layer once: thumbnails of `side` cells, and whatever `look(layer, maps, its trace)` takes along.

    `attnviz.maps.selection.select` says what it raises.
    """
    small: list[Tensor] = []
    masks: list[Tensor] = []
    keyless: list[Tensor] = []
    labels: MapLabels | None = None
    for layer, one in enumerate(layer_by_layer(trace, kind)):
        maps = select(one, kind, options)
        labels = maps.labels
        _append(masks, labels.mask)
        _append(keyless, labels.keyless)
        small.append(thumbnail(within(maps.attn[0]), side))
        if look is not None:
            look(layer, maps, one)
    assert labels is not None  # there is a layer
    said = "; ".join(filter(None, (labels.left_out, trace.attending(kind))))
    together = {"mask": _together(masks), "keyless": _together(keyless) if keyless else None}
    labels = replace(labels, left_out=said, **together)
    return MapsOverview(labels, side, torch.stack(small))


def _append(masks: list[Tensor], mask: Tensor | None) -> None:
    """Add a layer's mask, where it has one; one that is equal to the mask before is in memory once."""
    if mask is not None:
        masks.append(masks[-1] if masks and torch.equal(mask, masks[-1]) else mask)


def _together(masks: list[Tensor]) -> Tensor:
    """Masks of the layers as one, with 1 for layers where it is the same for all of them."""
    if all(mask is masks[0] for mask in masks):
        return masks[0]
    heads = max(mask.shape[1] for mask in masks)
    return torch.cat([mask.expand(-1, heads, *mask.shape[2:]) for mask in masks])
