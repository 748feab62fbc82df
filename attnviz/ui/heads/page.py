"""What each tab of the Heads page shows of a trace."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.maps.lazy import layer_by_layer
from attnviz.maps.maps import EagerMaps
from attnviz.maps.selection import labels, select
from attnviz.tracing.thumbnails import clip_weights, thumbnail
from attnviz.ui import captions, extensions
from attnviz.ui.cache import traces
from attnviz.ui.cache.pictures import cached
from attnviz.ui.heads import alignment, flow, neuron, row, sync
from attnviz.ui.heads import tabs as heads_tabs
from attnviz.ui.heads.tabs import TabsState
from attnviz.ui.reported import OPTIONAL_TEXT, SITE, SWITCH, TEXT, reported
from attnviz.ui.request import Request
from attnviz.widgets.wire import Payload

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike
    from attnviz.ui.heads.picture import HeadsPicture


def draw(trace: "TraceLike", tabs: TabsState, request: Request | None) -> "HeadsPicture | None":
    """The tab that is open, and nothing of the others; of the Heads tab, the picture, whose maps can be taken along.

    `request` is what was run, None for weights that somebody brought.
    """
    if tabs.tab == "heads":
        from attnviz.ui.heads.picture import HeadsPicture
        from attnviz.ui.mount import heads

        picture = HeadsPicture(trace, tabs, request)
        heads(captions.on(picture.payload()), on_change=sync.adopt)
        return picture
    asking = extensions.asking()
    if asking is not None and asking.covering(tabs.view).cover:
        st.info(asking.covered_sentence(), icon=":material/visibility_off:")
        return None
    if tabs.tab in heads_tabs.WHOLE_TRACE:
        model = None if request is None else traces.model(request.entry.name)
        {"alignment": alignment.draw, "flow": flow.draw}[tabs.tab](trace, tabs, model)
    else:
        {"links": _links, "model": _whole_model, "row": row.draw, "neuron": neuron.draw}[tabs.tab](trace, tabs)
    return None


def settled(trace: "TraceLike", tabs: TabsState) -> TabsState:
    """The tabs' state as it is drawn, where the open tab chooses for those who have chosen nothing."""
    return flow.settled(trace, tabs) if tabs.tab == "flow" else tabs


def _maps(trace: "TraceLike", tabs: TabsState, kind) -> EagerMaps:
    """A kind's maps as the view wants them."""
    return select(trace, kind, tabs.options(kind))


def _links(trace: "TraceLike", tabs: TabsState) -> None:
    from attnviz.ui.mount import links
    from attnviz.widgets.links import fine_lines
    from attnviz.widgets.links.payload import links_payload

    kind = tabs.view.kind
    layers = (_maps(layer, tabs, kind) for layer in layer_by_layer(trace, kind))
    view = {
        "kind": kind,
        "heads": [list(head) for head in tabs.lines],
        "token": tabs.held or None,
        "scale": tabs.opacity,
        "rows": tabs.fit,
    }
    made = cached(
        "links",
        (trace, kind, tabs.options(kind)),
        lambda: links_payload(layers, trace.kinds, view={}, numbers=trace.own_numbers(kind)),
    ).with_view(view)
    if fine_lines.wanted(made, tabs.lines):
        made = fine_lines.refined(made, tabs.lines, (_map(trace, tabs, at) for at in tabs.lines))
    links(captions.on(made), on_change=_take_links)


def _map(trace: "TraceLike", tabs: TabsState, at: tuple[int, int]):
    """One head's weights, `(rows, cols)`."""
    layer, head = at
    return _maps(trace.one_layer(tabs.view.kind, layer), tabs, tabs.view.kind).attn[0, head].numpy()


def _take_links() -> None:
    fields = {"kind": TEXT, "heads": list, "token": OPTIONAL_TEXT, "scale": TEXT, "rows": TEXT}
    view = reported("links", "view", fields)
    if view and all(isinstance(head, list) and len(head) == 2 for head in view["heads"]):
        lines = heads_tabs.heads_text(tuple((layer, head) for layer, head in view["heads"]))
        texts = {"kind": view["kind"], "lines": lines, "held": view["token"]}
        heads_tabs.take(texts | {"opacity": view["scale"], "fit": view["rows"]})


def _whole_model(trace: "TraceLike", tabs: TabsState) -> None:
    from attnviz.ui.mount import whole_model
    from attnviz.widgets.whole_model.payload import whole_model_payload

    kind = tabs.view.kind
    view = {"kind": kind, "layer": tabs.view.layer, "head": tabs.view.head, "mini": tabs.mini, "open": False}

    def make() -> Payload:
        thumbs, size = _small(trace, tabs)
        along = labels(trace, kind, tabs.options(kind))
        own = trace.own_numbers(kind)
        return whole_model_payload(thumbs, kind, kinds=trace.kinds, size=size, view={}, labels=along, numbers=own)

    made = cached("whole_model", (trace, kind, tabs.options(kind)), make).with_view(view)
    whole_model(captions.on(made), on_change=_take_whole_model)


def _small(trace: "TraceLike", tabs: TabsState):
    """Every head's map in eight bits, and its rows and columns before it was made small."""
    import torch

    from attnviz.widgets.whole_model.payload import SIDE

    kind = tabs.view.kind
    if tabs.options(kind).keeps_all:
        return trace.thumbnails(kind, side=SIDE), (len(trace.query_tokens(kind)), len(trace.key_tokens(kind)))
    layers = (_maps(layer, tabs, kind) for layer in layer_by_layer(trace, kind))
    parts = [(thumbnail(clip_weights(maps.attn[0]), SIDE), (len(maps.rows), len(maps.cols))) for maps in layers]
    return torch.stack([thumbs for thumbs, _ in parts]), parts[0][1]


def _take_whole_model() -> None:
    if view := reported(
        "whole_model", "view", {"kind": TEXT, "layer": SITE, "head": SITE, "mini": TEXT, "open": SWITCH}
    ):
        texts = {"kind": view["kind"], "mini": view["mini"]}
        opened = {"layer": view["layer"], "head": view["head"], "tab": "heads"}
        heads_tabs.take(texts | (opened if view["open"] else {}))
