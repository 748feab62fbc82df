"""The maps of every kind as the Heads page wants them, and their metrics: of a long text, computed once and cached."""

from typing import TYPE_CHECKING, TypeAlias

from attnviz.analysis.heads.metric_table import Columns, HeadMetrics, head_columns, joined
from attnviz.maps.lazy import MapsOverview, maps_overview
from attnviz.maps.maps import EagerMaps, Maps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import labels, select
from attnviz.ui.cache import budget, threads
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.cache.pictures import cached
from attnviz.ui.heads.tabs import TabsState
from attnviz.widgets.heads.payload import THUMBNAIL_SIDE

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike
    from attnviz.transformer.probe import Kind

LONG = 16_000_000  # weights of a kind, of four bytes each: about 330 tokens with twelve layers of twelve heads


def maps_and_metrics(trace: "TraceLike", tabs: TabsState) -> "tuple[dict[str, Maps], Columns]":
    """Every kind's maps, and the metrics of all heads in one table."""
    maps: dict[str, Maps] = {}
    tables: list[Columns] = []
    for kind in trace.kinds:
        options = tabs.options(kind)
        if is_long(trace, kind):
            overview, table = _overview(trace, kind, options)
            maps[kind] = overview.maps(trace, options)
        else:
            maps[kind], table = _kept(trace, kind, options)
        tables.append(table)
    return maps, joined(tables)


def is_long(trace: "TraceLike", kind: "Kind") -> bool:
    """Whether all maps of a kind together are too many to be computed again for each choice."""
    layers, heads = trace.shape(kind)
    return layers * heads * len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) > LONG


def _kept(trace: "TraceLike", kind: "Kind", options: MapOptions) -> "_Measured":
    """A kind's maps and metrics, kept for the choices that follow; of a visitor's own tensors made each time."""

    def measured(*_: object) -> "_Entry":
        made = select(trace, kind, options)
        return trace, (made, head_columns(made, trace))

    if trace.from_file:
        return measured()[1]
    return _measured.get((id(trace), kind, options), read=measured)[1]


_Measured: TypeAlias = tuple[EagerMaps, Columns]
# An entry holds its trace: no other one can then have that trace's id.
_Entry: TypeAlias = "tuple[TraceLike, _Measured]"
_measured: "BoundedCache[tuple[int, Kind, MapOptions], _Entry]" = BoundedCache(
    most=budget.bytes_for("maps"), size=lambda entry: entry[0].nbytes() + _nbytes(*entry[1])
)


def _nbytes(maps: EagerMaps, table: Columns) -> int:
    """Bytes of numbers: labels are few beside them, and their tokens belong to the trace."""
    return (
        maps.attn.untyped_storage().nbytes()
        + maps.mask.untyped_storage().nbytes()
        + sum(column.nbytes for column in table.values())
    )


def _overview(trace: "TraceLike", kind: "Kind", options: MapOptions) -> tuple[MapsOverview, Columns]:
    def look() -> tuple[MapsOverview, Columns]:
        metrics, tables = HeadMetrics(trace, kind, labels(trace, kind, options)), []

        def measure(layer: int, head: int, maps: EagerMaps, one: "TraceLike") -> None:
            tables.append(metrics.columns(maps, one, layer=layer, head=head))

        with threads.enough_for(max(len(trace.src_text), len(trace.tgt_text))):
            overview = maps_overview(trace, kind, options, side=THUMBNAIL_SIDE, look=measure)
        return overview, joined(tables)

    return cached("overview", (trace, kind, options), look)
