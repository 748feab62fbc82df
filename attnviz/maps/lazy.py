"""A long text's maps of one kind, with the options asked for, without all of them ever being in memory at once.

Every head of twelve layers on 1,024 tokens is 600 MB, and nine heads of one layer on 4,096 as much. What must be known
of all of them is looked at once, a layer or a head at a time, and is small; a map itself is computed when it is asked
for.
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

_AT_ONCE = 4_000_000  # weights of a map: of larger ones one head is in memory at a time, of others a layer's


def layer_by_layer(trace: TraceLike, kind: Kind) -> Iterator[TraceLike]:
    """Yield traces of one layer each, which becomes layer 0, with the same tokens; of one kind only. Tell this thread's
    listener before each.
    """
    for layer in range(trace.shape(kind)[0]):
        tell_listener(Site(kind, layer))
        yield trace.one_layer(kind, layer)


Look = Callable[[int, int, EagerMaps, TraceLike], object]


@dataclass(frozen=True, eq=False)
class MapsOverview:
    """Facts on a kind's maps that need a look at every layer; `thumbnails` have at most `side` cells a side."""

    labels: MapLabels
    side: int
    thumbnails: UInt8[Tensor, "layers heads rows cols"]

    def maps(self, trace: TraceLike, options: MapOptions) -> "LazyMaps":
        """Return the maps of the same trace, with the same options."""
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
        """Compute all maps at once, which a long text has no need of: `shape` says how large they are."""
        return torch.cat([self._select(layer).attn for layer in range(self.shape[0])])

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """One head's map, or a mean."""
        layers, heads = self.index(layer, head)  # what is out of range is said before anything is computed
        if isinstance(layer, int) and isinstance(head, int):
            return self._select(layer, head).weights(0, 0)
        sums, counts = torch.zeros(()), torch.zeros(())
        for at in range(self.shape[0])[layers]:
            for one in self._parts(at, heads):
                sees = one.mask.any(dim=-1, keepdim=True).expand(*one.attn.shape[:-1], 1)
                sums, counts = sums + one.attn.sum(dim=(0, 1)), counts + sees.sum(dim=(0, 1))
        return sums / counts.clamp(min=1)

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Every head in eight bits: those of the overview, where it was made with as many cells a side."""
        if side == self.overview.side:
            return self.overview.thumbnails
        every = slice(None)
        layers = (
            [thumbnail(clip_weights(part.attn[0]), side) for part in self._parts(at, every)]
            for at in range(self.shape[0])
        )
        return torch.stack([torch.cat(parts) for parts in layers])

    def _parts(self, layer: int, heads: slice) -> Iterator[EagerMaps]:
        """Yield the maps of some heads of a layer, as many at a time as memory should hold."""
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
    """Look at every head once: make thumbnails of `side` cells, and call `look(layer, head, maps, their trace)` with
    the maps that are in memory at a time: a layer's, or one head's. `head` is the first of them. This thread's listener
    is told before each, and what it raises ends the work.

    `attnviz.maps.selection.select` says what it raises.
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
        del maps, one  # before the next are made: these may be large
    assert labels is not None  # there is a layer
    said = "; ".join(filter(None, (labels.left_out, trace.attending_layers(kind))))
    together = {"mask": _join_masks(masks), "keyless": _join_masks(keyless) if keyless[0] else None}
    labels = replace(labels, left_out=said, **together)
    return MapsOverview(labels, side, torch.stack([torch.cat(heads) for heads in small]))


def _append(masks: list[list[Tensor]], layer: int, mask: Tensor | None) -> None:
    """Append a layer's mask, if it has one; a mask equal to the one before is in memory once."""
    if mask is None:
        return
    before = [*(masks[layer - 1] if layer else ()), *masks[layer]]
    masks[layer].append(before[-1] if before and torch.equal(mask, before[-1]) else mask)


def _join_masks(masks: list[list[Tensor]]) -> Tensor:
    """Join masks to one, with size 1 for layers or heads where it is the same for all of them."""
    layers = [parts[0] if _all_same(parts) else torch.cat(parts, dim=1) for parts in masks]
    if _all_same(layers):
        return layers[0]
    heads = max(mask.shape[1] for mask in layers)
    return torch.cat([mask.expand(-1, heads, *mask.shape[2:]) for mask in layers])


def _all_same(masks: list[Tensor]) -> bool:
    return all(mask is masks[0] for mask in masks)
