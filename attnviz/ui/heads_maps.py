"""The maps of every kind as the Heads page wants them, and their metrics: of a long text, looked at once and kept."""

from typing import TYPE_CHECKING

import pandas as pd

from attnviz.analysis.metrics import head_metrics
from attnviz.tracing.long_shown import LongShown, Survey, survey
from attnviz.tracing.shown import Shown, shown
from attnviz.ui import made_once
from attnviz.ui.heads_tabs import Tabbed
from attnviz.views.heads_payload import THUMBNAIL_SIDE

if TYPE_CHECKING:
    from attnviz.tracing.trace import Trace
    from attnviz.transformer.probe import Kind

LONG = 16_000_000  # weights of a kind, of four bytes each: about 330 tokens with twelve layers of twelve heads


def maps_and_metrics(trace: "Trace", tabs: Tabbed) -> "tuple[dict[str, Shown | LongShown], pd.DataFrame]":
    """Every kind's maps, and the metrics of all heads in one table."""
    maps: dict[str, Shown | LongShown] = {}
    tables: list[pd.DataFrame] = []
    for kind in trace.kinds:
        how = options(tabs, kind)
        if is_long(trace, kind):
            seen, table = _surveyed(trace, kind, how)
            maps[kind] = LongShown(seen, trace, how)
        else:
            maps[kind] = made = shown(trace, kind, **how)
            table = head_metrics(made, trace)
        tables.append(table)
    return maps, _joined(tables)


def options(tabs: Tabbed, kind: "Kind") -> dict:
    """The options of `shown`; a quadrant belongs to the kind that is looked at."""
    parts = tabs.parts if kind == tabs.view.kind else None
    return {"specials": tabs.view.specials, "words": tabs.view.words, "parts": parts}


def is_long(trace: "Trace", kind: "Kind") -> bool:
    """Whether all maps of a kind together are too many to be made again for each choice."""
    layers, heads = trace.shape(kind)
    return layers * heads * len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) > LONG


def _surveyed(trace: "Trace", kind: "Kind", how: dict) -> tuple[Survey, pd.DataFrame]:
    def look() -> tuple[Survey, pd.DataFrame]:
        tables: list[pd.DataFrame] = []
        seen = survey(
            trace,
            kind,
            side=THUMBNAIL_SIDE,
            look=lambda layer, maps, one: tables.append(head_metrics(maps, one).assign(layer=layer)),
            **how,
        )
        return seen, _joined(tables)

    return made_once.value(trace, ("survey", kind, *how.values()), make=look)


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    joined = pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
    joined.attrs = tables[0].attrs
    return joined
