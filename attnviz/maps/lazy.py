"""A long text's maps of one kind, as a person asked to see them, without all of them ever lying in memory at once.

Every head of twelve layers on 1,024 tokens is 600 MB. What must be known of all of them is looked at once, a layer at
a time, and is small; a map itself is made when it is asked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN, Maps, select
from attnviz.tracing.external.weights import BareWeights
from attnviz.tracing.thumbnails import thumbnail, within
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site


def layer_by_layer(trace: Trace, kind: Kind) -> Iterator[Trace]:
    """Traces of one layer each, which is layer 0 of them, with the same tokens; of one kind only."""
    for layer in range(trace.shape(kind)[0]):
        yield one_layer(trace, kind, layer)


def one_layer(trace: Trace, kind: Kind, layer: int) -> Trace:
    """The trace of one layer, which is layer 0 of it, with the same tokens. Raises ValueError out of range."""
    layers = trace.shape(kind)[0]
    if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < layers:
        raise ValueError(f"layer is 0 to {layers - 1}, not {layer!r}.")
    if isinstance(trace, BareWeights):
        return replace(trace, weights={kind: trace.weights[kind][layer][None]})
    return replace(trace, calls={Site(kind, 0): trace.calls[Site(kind, layer)]}, contexts={}, layers={})


Look = Callable[[int, Maps, Trace], None]


@dataclass(frozen=True, eq=False)
class MapsOverview:
    """What is known of a kind's maps once every layer was looked at.

    `labels` is as the maps are, with a single zero in the place of all weights; `thumbnails` are every head in eight
    bits.
    """

    labels: Maps
    thumbnails: UInt8[Tensor, "layers heads rows cols"]


@dataclass(frozen=True, eq=False)
class LazyMaps:
    """What `Maps` is, of maps that are computed from `trace` when they are asked for."""

    survey: MapsOverview
    trace: Trace
    options: MapOptions

    @property
    def kind(self) -> Kind:
        """Which maps they are."""
        return self.survey.labels.kind

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""
        return self.survey.labels.shape

    @property
    def mask(self) -> Bool[Tensor, "_ _ rows cols"]:
        """True = may attend, with 1 for layers or heads where it is the same for all of them."""
        return self.survey.labels.mask

    @property
    def rows(self) -> tuple[RowLabel, ...]:
        """A label for every row."""
        return self.survey.labels.rows

    @property
    def cols(self) -> tuple[ColLabel, ...]:
        """A label for every column."""
        return self.survey.labels.cols

    @property
    def left_out(self) -> str:
        """A sentence for the legend, "" when nothing is hidden."""
        return self.survey.labels.left_out

    @property
    def rows_with_keys_hidden(self) -> Bool[Tensor, " rows"]:
        """Rows that see keys, though none that is shown."""
        return self.survey.labels.rows_with_keys_hidden

    @property
    def thumbnails(self) -> UInt8[Tensor, "layers heads rows cols"]:
        """Every head in eight bits."""
        return self.survey.thumbnails

    @property
    def attn(self) -> Float[Tensor, "layers heads rows cols"]:
        """All maps at once, which a long text has no need of: `shape` says how large they are."""
        return torch.cat([self._layer(at).attn for at in range(self.shape[0])])

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """One head's map; "mean" for layer or head averages over all of them. Raises ValueError out of range."""
        if layer != "mean":
            return self._layer(layer).weights(0, head)  # type: ignore[arg-type]
        sums, counts = 0.0, 0
        for at in range(self.shape[0]):
            attn, mask = self._layer(at).chosen("mean", head)
            sees = mask.any(dim=-1, keepdim=True).expand(*attn.shape[:-1], 1)
            sums, counts = sums + attn.sum(dim=(0, 1)), counts + sees.sum(dim=(0, 1))
        return sums / counts.clamp(min=1)  # type: ignore[union-attr]

    def visible(self, layer: int | str, head: int | str) -> Bool[Tensor, "rows cols"]:
        """Where that map may attend: for a mean, where any of its heads may. Raises ValueError out of range."""
        return self.survey.labels.visible(layer, head)

    def _layer(self, layer: int) -> Maps:
        return select(one_layer(self.trace, self.kind, layer), self.kind, self.options)


def maps_overview(
    trace: Trace, kind: Kind, options: MapOptions = EVERY_TOKEN, *, side: int, look: Look | None = None
) -> MapsOverview:
    """Look at every layer once: thumbnails of `side` cells, and whatever `look(layer, maps, its trace)` takes along.

    `attnviz.maps.selection.select` says what it raises.
    """
    small: list[Tensor] = []
    masks: list[Tensor] = []
    maps: Maps | None = None
    for layer, one in enumerate(layer_by_layer(trace, kind)):
        maps = select(one, kind, options)
        small.append(thumbnail(within(maps.attn[0]), side))
        masks += [maps.mask] if not masks or not torch.equal(maps.mask, masks[-1]) else [masks[-1]]
        if look is not None:
            look(layer, maps, one)
    assert maps is not None  # there is a layer
    nothing = maps.attn.new_zeros(1).expand(len(small), *maps.attn.shape[1:])
    return MapsOverview(replace(maps, attn=nothing, mask=_together(masks)), torch.stack(small))


def _together(masks: list[Tensor]) -> Tensor:
    """Masks of the layers as one, with 1 for layers where it is the same for all of them."""
    if all(mask is masks[0] for mask in masks):
        return masks[0]
    heads = max(mask.shape[1] for mask in masks)
    return torch.cat([mask.expand(-1, heads, -1, -1) for mask in masks])
