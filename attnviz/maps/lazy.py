"""Maps of a long text, computed only when they are asked for.

All maps of twelve layers on 1,024 tokens take 600 MB, and nine heads of one layer on 4,096 tokens as much. What must be
known about all maps is therefore read once, in blocks of rows, and is small.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.maps.blocks import ShownMaps
from attnviz.maps.maps import EagerMaps, MapLabels, Maps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN, said_of, select
from attnviz.tracing.thumbnails import Thumbnails
from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind
from attnviz.transformer.row_blocks import RowBlock


@dataclass(frozen=True, eq=False)
class MapsOverview:
    """Facts about all maps of a kind: labels, and `thumbnails` with at most `side` rows and columns."""

    labels: MapLabels
    side: int
    thumbnails: UInt8[Tensor, "layers heads rows cols"]

    def maps(self, trace: TraceLike, options: MapOptions) -> "LazyMaps":
        """Return the lazy maps of the trace that this overview was made from, with the same options."""
        return LazyMaps(**vars(self.labels), overview=self, trace=trace, options=options)


@dataclass(frozen=True, eq=False)
class LazyMaps(Maps):
    """Maps that are computed from `trace` when they are asked for, one layer at a time."""

    overview: MapsOverview = field(kw_only=True)
    trace: TraceLike = field(kw_only=True)
    options: MapOptions = field(kw_only=True)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The numbers of layers, heads per layer, rows and columns."""
        return *self.trace.shape(self.kind), len(self.rows), len(self.cols)

    def all_heads(self) -> Float[Tensor, "layers heads rows cols"]:
        """Compute all maps at once. For a long text this needs much memory; `shape` says how much."""
        return torch.cat([self._select_maps(layer).attn for layer in range(self.shape[0])])

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """Return the map of one head, or a mean of maps."""
        layers, heads = self.index(layer, head)  # what is out of range is said before anything is computed
        if isinstance(layer, int) and isinstance(head, int):
            found = torch.zeros(self.shape[2:])
            for block in self.weight_blocks(layer, head):
                found[block.rows, block.keys] = block.attn[0].cpu()
            return found
        shown = ShownMaps(self.trace, self.kind, (self.rows, self.cols), self.options)
        sums, counts = torch.zeros(self.shape[2:]), torch.zeros(self.shape[2], 1)
        for at in range(self.shape[0])[layers]:
            sees = shown.mask(at).any(dim=-1, keepdim=True).expand(self.shape[1], -1, 1)
            counts += sees[heads].sum(dim=0)
            for block in shown.blocks(at):
                within = range(*block.heads.indices(self.shape[1]))
                chosen = [nth for nth, own in enumerate(within) if own in range(self.shape[1])[heads]]
                sums[block.rows, block.keys] += block.attn[chosen].sum(dim=0).cpu()
        return sums / counts.clamp(min=1)

    def weight_blocks(self, layer: int | str, head: int | str) -> Iterator[RowBlock]:
        """Yield the map of one head, or a mean of maps, in blocks of rows; one head's map is never in memory whole."""
        self.index(layer, head)
        if not (isinstance(layer, int) and isinstance(head, int)):
            return super().weight_blocks(layer, head)
        one = self.trace.one_layer(self.kind, layer, head)
        return ShownMaps(one, self.kind, (self.rows, self.cols), self.options).blocks(0)

    def thumbnails(self, side: int) -> UInt8[Tensor, "layers heads rows cols"]:
        """Return thumbnails of all heads in 8 bits; those of the overview, if it has the same `side`."""
        if side == self.overview.side:
            return self.overview.thumbnails
        return maps_overview(self.trace, self.kind, self.options, side=side).thumbnails

    def _select_maps(self, layer: int, head: int | None = None) -> EagerMaps:
        one = self.trace.one_layer(self.kind, layer, head)
        return select(one, self.kind, self.options, labelled=(self.rows, self.cols))


class Overview:
    """Make an overview of the maps of a kind from their blocks, one layer after another."""

    def __init__(self, shown: ShownMaps, side: int) -> None:
        self._shown, self._side = shown, side
        self._small: list[Thumbnails] = []

    def begin_layer(self, layer: int) -> Callable[[RowBlock], None]:
        """Begin the next layer. Return the function that reads its blocks."""
        self._small.append(Thumbnails(self._shown.shape[1:], self._side, clips=self._shown.trace.weights_only))
        return self._small[-1].read

    def made(self) -> MapsOverview:
        """Return the overview of the layers read so far."""
        small = torch.stack([each.eight_bits() for each in self._small])
        return MapsOverview(map_labels(self._shown), self._side, small)


def map_labels(shown: ShownMaps) -> MapLabels:
    """Return the labels and masks of all layers. A mask that layers share is in memory once."""
    rows, cols = shown.axes
    layers, keyless = range(shown.shape[0]), None
    if shown.options.hides_specials or shown.options.quadrant is not None:
        keyless = _join_masks([shown.rows_without_keys(layer) for layer in layers])
    mask = _join_masks([shown.mask(layer) for layer in layers])
    said = said_of(shown.trace, shown.kind, shown.options, cols, item=shown.item)
    return MapLabels(shown.kind, mask, rows, cols, keyless=keyless, **said)


def eager_maps(shown: ShownMaps) -> tuple[EagerMaps, Callable[[int], Callable[[RowBlock], None]]]:
    """Return empty maps, and a function that begins a layer: it returns the function that fills in its blocks."""
    maps = EagerMaps(**vars(map_labels(shown)), attn=torch.zeros(shown.shape))

    def begin_layer(layer: int) -> Callable[[RowBlock], None]:
        def read(block: RowBlock) -> None:
            maps.attn[layer, block.heads, block.rows, block.keys] = block.attn.cpu()

        return read

    return maps, begin_layer


def maps_overview(trace: TraceLike, kind: Kind, options: MapOptions = EVERY_TOKEN, *, side: int) -> MapsOverview:
    """Read all maps of a kind in blocks, and return their labels and their thumbnails of at most `side` cells a side.

    This thread's listener is called before each block; an exception it raises ends the work.
    """
    shown = ShownMaps.of_trace(trace, kind, options)
    overview = Overview(shown, side)
    for layer in range(trace.shape(kind)[0]):
        read = overview.begin_layer(layer)
        for block in shown.blocks(layer):
            read(block)
    return overview.made()


def _join_masks(layers: Sequence[Tensor]) -> Tensor:
    """Stack the masks of layers. An axis has size 1 if the mask is the same for all layers or all heads."""
    first = layers[0]
    if all(mask is first or torch.equal(mask, first) for mask in layers):
        return first.unsqueeze(0)
    heads = max(map(len, layers))
    return torch.stack([mask.expand(heads, *mask.shape[1:]) for mask in layers])
