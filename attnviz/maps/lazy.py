"""Compute the maps of one kind for a long text on demand, so that they are never in memory all at once.

All heads of twelve layers on 1,024 tokens take 600 MB, and so do nine heads of one layer on 4,096 tokens. Facts about
all maps are small: they are collected once, a layer or a head at a time. A map is computed when it is asked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.maps.maps import EagerMaps, MapLabels, Maps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN, select
from attnviz.maps.selection import labels as axes
from attnviz.tracing.thumbnails import clip_weights, thumbnail
from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind, Site, tell_listener

_AT_ONCE = 4_000_000  # cells of a map: larger maps are computed head by head, smaller ones layer by layer


def layer_by_layer(trace: TraceLike, kind: Kind) -> Iterator[TraceLike]:
    """Yield a trace of each layer of one kind, with the same tokens; in each trace that layer is layer 0.

    The listener of this thread is called before each layer.
    """
    for layer in range(trace.shape(kind)[0]):
        tell_listener(Site(kind, layer))
        yield trace.one_layer(kind, layer)


Look = Callable[[int, int, EagerMaps, TraceLike], object]


@dataclass(frozen=True, eq=False)
class MapsOverview:
    """Facts about a kind's maps that need all layers; each thumbnail has at most `side` rows and columns."""

    labels: MapLabels
    side: int
    thumbnails: UInt8[Tensor, "layers heads rows cols"]

    def maps(self, trace: TraceLike, options: MapOptions) -> "LazyMaps":
        """Return the maps of the same trace with the same options."""
        return LazyMaps(**vars(self.labels), overview=self, trace=trace, options=options)


@dataclass(frozen=True, eq=False)
class LazyMaps(Maps):
    """Maps that are computed from `trace`, one layer at a time, when they are asked for."""

    overview: MapsOverview = field(kw_only=True)
    trace: TraceLike = field(kw_only=True)
    options: MapOptions = field(kw_only=True)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Number of layers, heads, rows and columns."""
        return *self.trace.shape(self.kind), len(self.rows), len(self.cols)

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Compute all maps at once. For a long text this needs much memory; `shape` says how much."""
        return torch.cat([self._select(layer).attn for layer in range(self.shape[0])])

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return the map of one head, or a mean of maps."""
        layers, heads = self.index(layer, head)  # raises an error for a wrong index before anything is computed
        if isinstance(layer, int) and isinstance(head, int):
            return self._select(layer, head).weights(0, 0)
        sums, counts = torch.zeros(()), torch.zeros(())
        for at in range(self.shape[0])[layers]:
            for one in self._parts(at, heads):
                sees = one.mask.any(dim=-1, keepdim=True).expand(*one.attn.shape[:-1], 1)
                sums, counts = sums + one.attn.sum(dim=(0, 1)), counts + sees.sum(dim=(0, 1))
        return sums / counts.clamp(min=1)

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return thumbnails of all heads in eight bits; the overview's, if they have the same number of cells."""
        if side == self.overview.side:
            return self.overview.thumbnails
        every = slice(None)
        layers = (
            [thumbnail(clip_weights(part.attn[0]), side) for part in self._parts(at, every)]
            for at in range(self.shape[0])
        )
        return torch.stack([torch.cat(parts) for parts in layers])

    def _parts(self, layer: int, heads: slice) -> Iterator[EagerMaps]:
        """Yield the maps of some heads of a layer, as many at a time as fit in memory."""
        every = range(self.shape[1])
        if heads == slice(None) and len(self.rows) * len(self.cols) < _AT_ONCE:
            yield self._select(layer)
        else:
            yield from (self._select(layer, head) for head in every[heads])

    def _select(self, layer: int, head: int | None = None) -> EagerMaps:
        one = self.trace.one_layer(self.kind, layer, head)
        return select(one, self.kind, self.options, labelled=(self.rows, self.cols))


def maps_overview(
    trace: TraceLike, kind: Kind, options: MapOptions = EVERY_TOKEN, *, side: int, look: Look | None = None
) -> MapsOverview:
    """Collect the facts about all maps of a kind, with thumbnails of at most `side` rows and columns.

    The maps are computed a layer or, if they are large, a head at a time. For each part, `look(layer, head, maps,
    trace)` is called with the part's first head, its maps and its trace. The listener of this thread is called before
    each part; an exception that it raises ends the work. Raises the same errors as `attnviz.maps.selection.select`.
    """
    layers, heads = trace.shape(kind)
    large = len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) >= _AT_ONCE
    small, masks, keyless = ([[] for _ in range(layers)] for _ in range(3))
    labelled, labels = axes(trace, kind, options), None
    for layer, head in product(range(layers), range(heads) if large else [None]):
        tell_listener(Site(kind, layer))
        one = trace.one_layer(kind, layer, head)
        maps = select(one, kind, options, labelled=labelled)
        labels = maps.labels
        _append(masks, layer, labels.mask)
        _append(keyless, layer, labels.keyless)
        small[layer].append(thumbnail(clip_weights(maps.attn[0]), side))
        if look is not None:
            look(layer, head or 0, maps, one)
        del maps, one  # free the maps before the next ones are computed, because they may be large
    assert labels is not None  # there is a layer
    said = "; ".join(filter(None, (labels.left_out, trace.attending_layers(kind))))
    together = {"mask": _join_masks(masks), "keyless": _join_masks(keyless) if keyless[0] else None}
    labels = replace(labels, left_out=said, **together)
    return MapsOverview(labels, side, torch.stack([torch.cat(heads) for heads in small]))


def _append(masks: list[list[Tensor]], layer: int, mask: Tensor | None) -> None:
    """Append a layer's mask, if it has one; an equal mask shares the memory of the one before it."""
    if mask is None:
        return
    before = [*(masks[layer - 1] if layer else ()), *masks[layer]]
    masks[layer].append(before[-1] if before and torch.equal(mask, before[-1]) else mask)


def _join_masks(masks: list[list[Tensor]]) -> Tensor:
    """Join masks into one tensor, with size 1 for layers or heads if they all have the same mask."""
    layers = [parts[0] if _all_same(parts) else torch.cat(parts, dim=1) for parts in masks]
    if _all_same(layers):
        return layers[0]
    heads = max(mask.shape[1] for mask in layers)
    return torch.cat([mask.expand(-1, heads, *mask.shape[2:]) for mask in layers])


def _all_same(masks: list[Tensor]) -> bool:
    return all(mask is masks[0] for mask in masks)
