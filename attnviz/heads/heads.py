"""The picture Heads: every head's map, one of them large, with metrics of each head and the sentences above."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from attnviz.analysis.metric_table import METRICS, Columns, HeadMetrics, join_tables
from attnviz.guards.arguments import reads_arguments
from attnviz.heads.cells import Cells, cells
from attnviz.heads.heads_state import HeadsState
from attnviz.heads.payload import THUMBNAIL_SIDE, heads_payload, with_fitted_view
from attnviz.heads.sentences import sentence_strip
from attnviz.kit.browser_view import to_view, with_declaration
from attnviz.kit.caching import NO_HELP, Cache, Host, make_anew
from attnviz.kit.covering import NOTHING, Covering
from attnviz.kit.focus import SiteBounds
from attnviz.kit.picture import TabRules
from attnviz.kit.subject import EVERYTHING, Subject, of_trace
from attnviz.kit.wire import Payload
from attnviz.maps.blocks import ShownMaps
from attnviz.maps.lazy import MapsOverview, Overview, eager_maps
from attnviz.maps.maps import EagerMaps, Maps
from attnviz.maps.options import WEIGHT, MapOptions
from attnviz.maps.selection import select
from attnviz.models.protocol import Model
from attnviz.tracing.causes.switches import Head, heads_off, switch_heads_off
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

MOST = 2_000_000  # maximum bytes of float32 maps that a page sends
# Weights of a kind that are one block: of so few, blocks of each layer would cost more than their products.
FEW = 100_000
LONG = 16_000_000  # weights of a kind: about 330 tokens with twelve layers of twelve heads


def heads(trace: TraceLike, state: HeadsState | None = None, **how: Any) -> Payload:
    """Make the Heads picture of a trace. `how` are further fields of `HeadsPicture`."""
    return HeadsPicture(trace, state or HeadsState(), **how).payload()


@dataclass(frozen=True)
class HeadsPicture:
    """The Heads picture of a trace, and the maps from which it is drawn.

    `quadrant` restricts the maps of a text pair to queries of one sentence and keys of another. `covering` hides what
    an open question asks about. `model` is the model that ran, or None if it cannot run again; then cells hold weights.
    `most` is the maximum size in bytes of the float32 maps that are sent; if it is exceeded, only the viewed maps are.
    """

    trace: TraceLike
    state: HeadsState = field(default_factory=HeadsState)
    quadrant: tuple[int, int] | None = None
    covering: Covering = field(default_factory=Covering)
    model: Model | None = None
    cached: Cache = make_anew
    most: int = MOST

    def payload(self) -> Payload:
        """Return the data that the widget draws, except for the caption."""
        view = to_view(replace(self.state, off=tuple(sorted(heads_off(self.trace.interventions, self._shapes)))))
        view = {**view, **self.covering.marks}
        if self.is_the_same_for_every_view:
            options = tuple(map(self._options, self.trace.kinds))
            made = self.cached("heads", (self.trace, options), lambda: self._make(view))
            return self.covering.add_question(with_fitted_view(made, view))
        return self.covering.add_question(self._make(view))

    def drawn_maps(self) -> tuple[Maps, str]:
        """Return the maps of the kind in focus, and the name of the measure in their cells."""
        return self._cells.drawn_maps(self.state.kind, self._maps_and_metrics[0]), self._cells.measure

    @property
    def is_covered(self) -> bool:
        """Whether an open question hides some of the picture's values."""
        return self.covering.cover is not None

    @property
    def _shapes(self) -> dict[Kind, tuple[int, int]]:
        return {kind: self.trace.shape(kind) for kind in self.trace.kinds}

    @property
    def is_the_same_for_every_view(self) -> bool:
        """Whether the payload has all maps and only weights, so that it does not depend on the view."""
        trace = self.trace
        weights = sum(
            math.prod(trace.shape(kind)) * len(trace.query_tokens(kind)) * len(trace.key_tokens(kind))
            for kind in trace.kinds
        )
        return self.state.cells == WEIGHT and not self.is_covered and 4 * weights <= self.most

    def _options(self, kind: str) -> MapOptions:
        return self.state.options(kind, self.quadrant)

    @cached_property
    def _maps_and_metrics(self) -> tuple[dict[str, Maps], Columns]:
        return self.covering.cover_maps(*_measured_maps(self.trace, self._options, self.cached))

    @cached_property
    def _cells(self) -> Cells:
        if self.is_covered:  # other measures would give the answer away too
            return Cells()
        maps = self._maps_and_metrics[0]
        return cells(self.model, self.trace, self.state, maps, options=self._options, cached=self.cached)

    def _make(self, view: dict[str, Any]) -> Payload:
        drawn = self._cells
        made = heads_payload(
            *self._maps_and_metrics, view=view, strip=sentence_strip(self.trace), budget=self.most,
            fixed=_fixed_reason(self.trace), cells=(drawn.measure, drawn.maps, drawn.why),
        )  # fmt: skip
        return with_declaration(made, HeadsState)


def _fixed_reason(trace: TraceLike) -> str:
    """Return why no head of a trace can be switched off; "" if heads can be."""
    if trace.from_file:
        return "Your file contains only attention weights. There is no model that could run again."
    return trace.missing_reason if trace.weights_only else ""


def _measured_maps(
    trace: TraceLike, options: Callable[[str], MapOptions], cached: Cache
) -> tuple[dict[str, Maps], Columns]:
    """Return every kind's maps, and the metrics of all heads in one table.

    Maps of a long text are computed layer by layer. `options` returns the map options for a kind.
    """
    maps: dict[str, Maps] = {}
    tables: list[Columns] = []
    for kind in trace.kinds:
        key = trace, kind, options(kind)
        if _is_long(trace, kind):
            overview, table = cached("overview", key, lambda key=key: _overview(*key))
            maps[kind] = overview.maps(trace, options(kind))
        else:
            maps[kind], table = cached("maps", key, lambda key=key: _measure(*key))
        tables.append(table)
    return maps, join_tables(tables)


def _is_long(trace: TraceLike, kind: Kind) -> bool:
    """Return whether the maps of a kind are too large to be in memory all at once."""
    layers, heads = trace.shape(kind)
    return layers * heads * len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) > LONG


def _measure(trace: TraceLike, kind: Kind, options: MapOptions) -> tuple[EagerMaps, Columns]:
    shown = ShownMaps.of_trace(trace, kind, options)
    if math.prod(shown.shape) <= FEW:
        maps = select(trace, kind, options, labelled=shown.axes)
        return maps, HeadMetrics(shown).of_maps(maps)
    maps, begin_layer = eager_maps(shown)
    return maps, HeadMetrics(shown).of_trace(begin_layer)


def _overview(trace: TraceLike, kind: Kind, options: MapOptions) -> tuple[MapsOverview, Columns]:
    shown = ShownMaps.of_trace(trace, kind, options)
    overview = Overview(shown, THUMBNAIL_SIDE)
    table = HeadMetrics(shown).of_trace(overview.begin_layer)
    return overview.made(), table


class HeadsRules(TabRules):
    """Rule of the tab Heads: the picture shows as off those heads that are off in the run."""

    def settle(self, trace: Any, state: HeadsState, page: Any, host: Any) -> HeadsState:
        """Return the state with `off` set to the heads that are off in the run."""
        shapes: dict[Kind, tuple[int, int]] = {kind: trace.shape(kind) for kind in trace.kinds}
        return replace(state, off=tuple(sorted(heads_off(trace.interventions, shapes))))


@reads_arguments
def heads_of(
    trace: TraceLike, *, model: Model | None = None, covering: Covering = NOTHING,
    quadrant: tuple[int, int] | None = None, host: Host = NO_HELP,
) -> Subject:  # fmt: skip
    """Show every head's map.

    With the model, heads can be switched off, and cells can show what heads write. `covering` hides what an open
    question asks about; `quadrant` is explained at `HeadsPicture`.
    """
    cached = make_anew if trace.from_file else host.cached  # uploaded maps would fill the shared cache
    shapes: dict[Kind, tuple[int, int]] = {kind: trace.shape(kind) for kind in trace.kinds}
    start = HeadsState(trace.kinds[-1], off=tuple(sorted(heads_off(trace.interventions, shapes))))

    def draw(state: HeadsState, **how: int) -> Payload:
        more = {"model": model, "covering": covering, "quadrant": quadrant, "cached": cached, **how}
        return heads(_run(trace, start, state, model), state, **more)

    bounds = {"sort": ("layout", *METRICS), "tint": ("none", *METRICS), "pins": SiteBounds({**shapes})}
    alone = () if model is not None and isinstance(trace, Trace) else ("cells", "off")
    made = of_trace(trace, start, draw, model, bounds, ("plotly", "table", "npz", *alone))
    return replace(made, draw_whole=partial(draw, most=EVERYTHING))


def _run(trace: TraceLike, start: HeadsState, state: HeadsState, model: Model | None) -> TraceLike:
    """Return the trace, run again if other heads are off than when it was made."""
    if state.off == start.off:
        return trace
    if model is None or not isinstance(trace, Trace):
        raise ValueError("off=… cannot be shown. Please pass the model that made the trace, model=…, to run it again.")
    off = [Head(*site) for site in state.off]  # type: ignore[arg-type]  # checked by rerun
    return model.rerun(replace(trace, interventions=switch_heads_off(trace.interventions, model.shapes, off)))
