"""What the cells of the Heads tab's maps hold: weights, or what each head writes from each key. Made when asked for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import streamlit as st
from torch import Tensor

from attnviz.analysis.causes.output_maps import OutputMap, output_maps
from attnviz.analysis.causes.residual import ResidualMaps, residual_maps
from attnviz.analysis.causes.written import norms, shares_of_heads
from attnviz.analysis.site.projections import NotPlain
from attnviz.maps.maps import EagerMaps, Maps
from attnviz.maps.measured import MeasuredMaps
from attnviz.maps.selection import select
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site
from attnviz.ui.cache import threads, traces
from attnviz.ui.cache.pictures import cached
from attnviz.ui.heads.tabs import TabsState
from attnviz.ui.request import Request

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace_like import TraceLike

WEIGHT, NORM, SHARE = "weight", "norm", "share"
_FEW = 3  # positions: of fewer, the last norm cannot be told
_AT_ONCE = 500_000  # cells of a kind: of more, a layer is measured when it is looked at


@dataclass(frozen=True)
class Cells:
    """Which number stands in the cells, and the maps of the kinds that are drawn with it; or why it is the weight."""

    measure: str = WEIGHT
    maps: Mapping[str, Maps] = field(default_factory=dict)
    why: str = ""

    def of(self, kind: str, maps: Mapping[str, Maps]) -> Maps:
        """The maps of a kind that are drawn."""
        return self.maps.get(kind, maps[kind])


def cells(request: Request | None, trace: "TraceLike", tabs: TabsState, maps: Mapping[str, Maps]) -> Cells:
    """What the view asks for. `request` is None for a file that somebody brought, which no model can run again."""
    measure = tabs.view.cells
    if measure == WEIGHT:
        return Cells()
    if request is None or not isinstance(trace, Trace):
        return Cells(why=trace.missing_reason or "a file of weights does not contain what heads write")
    model, whole = traces.model(request.entry.name), traces.trace(request)
    length = min(len(sentence.queries(whole.kinds[-1])) for sentence in whole.sentences)
    known = _known((model.model_id, measure, "" if length > _FEW else repr(whole.sentences)), model, whole)
    if isinstance(known, NotPlain):
        return Cells(why=known.why)
    drawn = dict.fromkeys((tabs.view.kind, *(kind for kind, *_ in tabs.view.pins)))
    return Cells(measure, {kind: _measured(known, whole, tabs, maps[kind]) for kind in drawn})


_Known = Mapping[Site, OutputMap] | ResidualMaps


@st.cache_resource(max_entries=2, show_spinner="Finding the model's W_o …")
def _known(key: tuple[str, str, str], _model: "Model", _trace: Trace) -> _Known | NotPlain:
    """What a measure needs of a model: `W_o` of every site; for shares the way of its stream, too."""
    if key[1] == SHARE:
        found = residual_maps(_model, _trace)
        if isinstance(found, NotPlain):
            return found
        if "cross" in _model.kinds and not found.encoder_adds_up:
            return NotPlain("its encoder's layers normalise what passes through them")
        return replace(found, weight=found.weight[:0], bias=found.bias[:0])  # the vocabulary's would be most of it
    outputs = output_maps(_model, _trace)
    lacking = next((found for found in outputs.values() if isinstance(found, NotPlain)), None)
    return lacking or outputs  # type: ignore[return-value]  # none of them is NotPlain


def _measured(known: _Known, trace: Trace, tabs: TabsState, maps: Maps) -> Maps:
    """A kind's numbers: all at once where they are few, else a layer's when it is asked for."""
    kind: Kind = maps.kind
    options, measure = tabs.options(kind), tabs.view.cells
    labelled = maps.rows, maps.cols

    def make(layer: int) -> EagerMaps:
        with threads.enough_for(max(len(trace.src_text), len(trace.tgt_text))):
            numbers = _numbers(known, trace, Site(kind, layer))
        return select(trace.one_layer(kind, layer), kind, options, labelled=labelled, numbers=numbers.unsqueeze(0))

    def of_layer(layer: int) -> EagerMaps:
        if math.prod(maps.shape) > _AT_ONCE:
            return cached(f"{measure} of layer", (trace, layer, kind, options), lambda: make(layer))
        layers = range(maps.shape[0])
        return cached(measure, (trace, kind, options), lambda: tuple(map(make, layers)))[layer]

    left_out = "special tokens hidden" if options.hides_specials else ""
    merged = "a word has the sum of its pieces" if options.words else ""
    return MeasuredMaps.from_maps(maps, of_layer, left_out="; ".join(filter(None, (left_out, merged))))


def _numbers(known: _Known, trace: Trace, site: Site) -> Tensor:
    if isinstance(known, ResidualMaps):
        return shares_of_heads(known, trace, site)
    return norms(known[site], trace, site)
