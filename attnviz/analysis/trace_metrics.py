"""Metrics of a trace's heads as a table, the same as on the page Heads, for users' own calculations."""

from collections.abc import Sequence

import pandas as pd
import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.analysis.metric_table import METRICS, Columns, HeadMetrics, join_tables
from attnviz.analysis.metrics import induction
from attnviz.maps.lazy import layer_by_layer
from attnviz.maps.selection import labels, select
from attnviz.text.tokens import Token
from attnviz.tracing.trace_like import TraceLike, validate_choice
from attnviz.transformer.probe import Kind


def trace_metrics(trace: TraceLike, kind: Kind | None = None, *, item: int = 0) -> pd.DataFrame:
    """Measure every head of a trace, or of one `kind`, and return a table with one row per head.

    The columns are kind, layer, head, those of `METRICS`, and `induction`: the weight on tokens that follow an earlier
    occurrence of the row's own token, NaN if no token occurs twice and in cross-attention. `.attrs["units"]` has the
    units, "" for a share from 0 to 1. One layer is in memory at a time. Raises ValueError for a kind or an item that
    the trace does not have.
    """
    kinds: tuple[Kind, ...] = trace.kinds if kind is None else (validate_choice(kind, "kind", trace.kinds),)
    table = pd.DataFrame(join_tables([_columns(trace, one, item) for one in kinds]))
    table.attrs["units"] = {name: metric.unit for name, metric in METRICS.items()} | {"induction": ""}
    return table


def _columns(trace: TraceLike, kind: Kind, item: int) -> Columns:
    measures = HeadMetrics(trace, kind, labels(trace, kind, item=item), item=item)
    wanted = _after_earlier_places(trace.query_tokens(kind, item), trace.key_tokens(kind, item))
    tables = []
    for layer, one in enumerate(layer_by_layer(trace, kind)):
        maps = select(one, kind, item=item)
        scores = induction(maps.attn, wanted & (kind != "cross"))
        columns = measures.columns(maps, one, layer=layer)
        tables.append(columns | {"induction": scores.double().flatten().numpy()})
    return join_tables(tables)


def _after_earlier_places(queries: Sequence[Token], keys: Sequence[Token]) -> Bool[Tensor, "q_len k_len"]:
    """Mark for each query the keys right after earlier occurrences of its own token, except for special tokens."""
    wanted = torch.zeros(len(queries), len(keys), dtype=torch.bool)
    places: dict[tuple[int, str], list[int]] = {}
    for row, token in enumerate(queries):
        if token.is_special:
            continue
        earlier = places.setdefault((token.id, token.piece or token.text), [])
        wanted[row, [place + 1 for place in earlier if place + 1 < len(keys)]] = True
        earlier.append(row)
    return wanted
