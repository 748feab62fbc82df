"""The One row tab: the pinned row in every head of every layer."""

from typing import TYPE_CHECKING

import streamlit as st
import torch

from attnviz.maps.options import MapOptions
from attnviz.maps.selection import labels, select
from attnviz.tracing.causes.switches import heads_off
from attnviz.ui import captions
from attnviz.ui.cache.pictures import cached
from attnviz.ui.heads import tabs as heads_tabs
from attnviz.ui.heads.tabs import TabsState
from attnviz.ui.reported import NUMBER, SITE, SWITCH, TEXT, reported
from attnviz.widgets.wire import Payload

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike
    from attnviz.transformer.probe import Kind
    from attnviz.widgets.one_row.payload import Strips

NO_ROW = "No row is left to show: all tokens are special tokens, and these are hidden."
_LARGE = 4_000_000  # weights of a map: of larger ones one head is in memory at a time
_KIND = "one-row-kind"


def draw(trace: "TraceLike", tabs: TabsState) -> None:
    """The row that is pinned, or the first; of every head of the kind in view."""
    from attnviz.ui.mount import one_row
    from attnviz.widgets.one_row.payload import one_row_payload

    kind, options, chosen = tabs.view.kind, tabs.options(tabs.view.kind), tabs.view.row
    axes = labels(trace, kind, options)
    if not axes[0]:
        st.info(NO_ROW, icon=":material/info:")
        return
    row = chosen if chosen is not None and chosen < len(axes[0]) else 0
    view = {"kind": kind, "row": row, "layer": tabs.view.layer, "head": tabs.view.head, "scale": tabs.view.scale}
    st.session_state[_KIND] = kind

    def make() -> Payload:
        return one_row_payload(_strips(trace, kind, options, row), kind, kinds=trace.kinds, labels=axes, view={})

    made = cached("one_row", (trace, row, kind, options), make).with_view(view | {"open": False})
    one_row(captions.on(made), on_change=_take)


def _strips(trace: "TraceLike", kind: "Kind", options: MapOptions, row: int) -> "Strips":
    """One row of all maps; of a long text a layer's, or a head's, are in memory at a time."""
    from attnviz.widgets.one_row.payload import Strips

    (layers, heads), axes = trace.shape(kind), labels(trace, kind, options)
    is_large = len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) > _LARGE
    weights, seen, left_out = [], torch.zeros(len(axes[1]), dtype=torch.bool), ""
    for layer in range(layers):
        for head in range(heads) if is_large else (None,):
            maps = select(trace.one_layer(kind, layer, head), kind, options, labelled=axes)
            weights.append(maps.attn[0, :, row].clone())
            seen |= maps.mask[..., row, :].flatten(0, -2).any(dim=0)
            left_out = maps.left_out
    off = [head[1:] for head in sorted(heads_off(trace.interventions, {kind: (layers, heads)}))]
    together = torch.cat(weights).reshape(layers, heads, -1)
    return Strips(row, together, seen, off, trace.own_numbers(kind), left_out)


def _take() -> None:
    fields = {"kind": TEXT, "row": NUMBER, "layer": SITE, "head": SITE, "scale": TEXT, "open": SWITCH}
    if view := reported("one_row", "view", fields):
        texts = {name: view[name] for name in ("kind", "row", "scale")}
        if "encoder_self" in (view["kind"], before := st.session_state.get(_KIND)) and view["kind"] != before:
            texts["row"] = None  # rows of another sentence
        opened = {"layer": view["layer"], "head": view["head"], "tab": "heads"}
        heads_tabs.take(texts | (opened if view["open"] else {}))
