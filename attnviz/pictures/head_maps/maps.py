"""The maps of every kind as the Heads picture wants them, and their metrics; of a long text layer by layer."""

from collections.abc import Callable

from attnviz.analysis.heads.metric_table import Columns, HeadMetrics, head_columns, join_tables
from attnviz.maps.lazy import MapsOverview, maps_overview
from attnviz.maps.maps import EagerMaps, Maps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import labels, select
from attnviz.pictures.caching import Cache
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind
from attnviz.widgets.heads.payload import THUMBNAIL_SIDE

LONG = 16_000_000  # weights of a kind, of four bytes each: about 330 tokens with twelve layers of twelve heads


def maps_and_metrics(
    trace: TraceLike, options: Callable[[str], MapOptions], cached: Cache
) -> tuple[dict[str, Maps], Columns]:
    """Return every kind's maps, and the metrics of all heads in one table; `options` are those of a kind."""
    maps: dict[str, Maps] = {}
    tables: list[Columns] = []
    for kind in trace.kinds:
        key = trace, kind, options(kind)
        if is_long(trace, kind):
            overview, table = cached("overview", key, lambda key=key: _overview(*key))
            maps[kind] = overview.maps(trace, options(kind))
        else:
            maps[kind], table = cached("maps", key, lambda key=key: _measured(*key))
        tables.append(table)
    return maps, join_tables(tables)


def is_long(trace: TraceLike, kind: Kind) -> bool:
    """Check whether all maps of a kind together are too many to be in memory at once."""
    layers, heads = trace.shape(kind)
    return layers * heads * len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) > LONG


def _measured(trace: TraceLike, kind: Kind, options: MapOptions) -> tuple[EagerMaps, Columns]:
    maps = select(trace, kind, options)
    return maps, head_columns(maps, trace)


def _overview(trace: TraceLike, kind: Kind, options: MapOptions) -> tuple[MapsOverview, Columns]:
    metrics, tables = HeadMetrics(trace, kind, labels(trace, kind, options)), []

    def measure(layer: int, head: int, maps: EagerMaps, one: TraceLike) -> None:
        tables.append(metrics.columns(maps, one, layer=layer, head=head))

    overview = maps_overview(trace, kind, options, side=THUMBNAIL_SIDE, look=measure)
    return overview, join_tables(tables)
