"""What the cells of a map hold: attention weights, or another quantity, such as what each head writes from each key."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from attnviz.heads.heads_state import HeadsState
from attnviz.kit.caching import Cache
from attnviz.maps.maps import EagerMaps, Maps
from attnviz.maps.options import WEIGHT, MapOptions
from attnviz.maps.selection import select
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Site

if TYPE_CHECKING:
    from attnviz.analysis.mixing import WriterMaps

_AT_ONCE = 500_000  # cells of a kind; with more, layers are measured when viewed


@dataclass(frozen=True)
class Cells:
    """What the cells of the Heads picture's maps show.

    `measure` is the name of the measure, and `maps` has the maps of each drawn kind with this measure. If the measure
    is unavailable, the cells are weights, and `why` gives the reason.
    """

    measure: str = WEIGHT
    maps: Mapping[str, Maps] = field(default_factory=dict)
    why: str = ""

    def drawn_maps(self, kind: str, maps: Mapping[str, Maps]) -> Maps:
        """Return the maps with the measure if there are any for this kind, otherwise the maps of weights."""
        return self.maps.get(kind, maps[kind])


def cells(
    model: Model | None, trace: TraceLike, state: HeadsState, maps: Mapping[str, Maps], *,
    options: Callable[[str], MapOptions], cached: Cache,
) -> Cells:  # fmt: skip
    """Return the cell values that the state asks for.

    Without a `model`, as for an uploaded file, the cells are weights and `why` says so.
    """
    measure = state.cells
    if measure == WEIGHT:
        return Cells()
    if model is None or not isinstance(trace, Trace):
        return Cells(why=trace.missing_reason or "a file of weights does not contain what heads write")
    from attnviz.analysis.mixing import known_maps  # what no picture of weights needs
    from attnviz.analysis.projections import NotPlain

    known = known_maps(measure, model, trace, cached)
    if isinstance(known, NotPlain):
        return Cells(why=known.why)
    drawn = dict.fromkeys((state.kind, *(kind for kind, *_ in state.pins)))
    measured = _Measured(known, measure, trace, cached)
    return Cells(measure, {kind: measured.maps(maps[kind], options(kind)) for kind in drawn})


@dataclass(frozen=True)
class _Measured:
    """Maker of maps whose cells measure what the heads of a model write in a trace."""

    known: "WriterMaps"
    measure: str
    trace: Trace
    cached: Cache

    def maps(self, maps: Maps, options: MapOptions) -> Maps:
        """Return the maps of a kind: computed all at once if small, otherwise layer by layer when needed."""
        kind, layers, is_large = maps.kind, range(maps.shape[0]), math.prod(maps.shape) > _AT_ONCE
        labelled = maps.rows, maps.cols

        def make(layer: int) -> EagerMaps:
            numbers = self._numbers(Site(kind, layer)).unsqueeze(0)
            # Whole maps, because the numbers of a layer are products of whole maps with what each token writes.
            return select(self.trace.one_layer(kind, layer), kind, options, labelled=labelled, numbers=numbers)

        def of_layer(layer: int) -> EagerMaps:
            key = self.trace, self.measure, kind, options
            if is_large:
                return self.cached("written by a layer", (*key, layer), lambda: make(layer))
            return self.cached("written", key, lambda: tuple(map(make, layers)))[layer]

        left_out = "special tokens hidden" if options.hides_specials else ""
        merged = "a word has the sum of its pieces" if options.merges_words else ""
        merged = "a span has the sum of its tokens" if options.folds and self.trace.sentences[0].spans else merged
        return MeasuredMaps.from_maps(maps, of_layer, left_out="; ".join(filter(None, (left_out, merged))))

    def _numbers(self, site: Site) -> Tensor:
        from attnviz.analysis.mixing import norms, shares_of_heads
        from attnviz.analysis.residual import ResidualMaps

        if isinstance(self.known, ResidualMaps):
            return shares_of_heads(self.known, self.trace, site)
        return norms(self.known[site], self.trace, site)


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
