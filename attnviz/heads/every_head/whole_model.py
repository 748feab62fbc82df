"""The picture Whole model: every head of every layer, as a small map or as lines."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import UInt8
from torch import Tensor

from attnviz.heads.every_head.every_head import SIDE, whole_model_payload
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.fields import choice, declare_unlinked
from attnviz.kit.focus import FocusState, open_head
from attnviz.kit.picture import TabRules
from attnviz.kit.wire import Payload
from attnviz.maps.lazy import layer_by_layer
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import labels, select
from attnviz.tracing.thumbnails import clip_weights, thumbnail
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class WholeModelState(FocusState):
    """State of the Whole model picture. `mini` is how a head is drawn. `open` reports a click that opens a head."""

    mini: str = choice("map", {"map": "Maps", "lines": "Lines"})
    open: bool = declare_unlinked(default=False, shape=(bool, int))


def whole_model(
    trace: TraceLike, state: WholeModelState | None = None, *, options: MapOptions | None = None,
    cached: Cache = make_anew,
) -> Payload:  # fmt: skip
    """Make the Whole model picture of a trace. `options` say which rows and columns its maps have."""
    state, options = state or WholeModelState(), options or MapOptions()
    kind, layer, head = state.site_in(trace)

    def make() -> Payload:
        thumbs, size = _thumbnails(trace, kind, options)
        along, numbers = labels(trace, kind, options), trace.own_numbers(kind)
        return whole_model_payload(thumbs, kind, kinds=trace.kinds, size=size, view={}, labels=along, numbers=numbers)

    made = cached("whole_model", (trace, kind, options), make)
    return add_view(made, replace(state, kind=kind, layer=layer, head=head))


def _thumbnails(
    trace: TraceLike, kind: Kind, options: MapOptions
) -> tuple[UInt8[Tensor, "layers heads rows cols"], tuple[int, int]]:
    """Return every head's map in eight bits, and the number of rows and columns of the full-size map."""
    if options.keeps_all:
        return trace.thumbnails(kind, side=SIDE), (len(trace.query_tokens(kind)), len(trace.key_tokens(kind)))
    layers = (select(layer, kind, options) for layer in layer_by_layer(trace, kind))
    parts = [(thumbnail(clip_weights(maps.attn[0]), SIDE), (len(maps.rows), len(maps.cols))) for maps in layers]
    return torch.stack([thumbs for thumbs, _ in parts]), parts[0][1]


class EveryHeadRules(TabRules):
    """Rule of the tab Whole model: a click on a head opens it in the tab Heads."""

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters that open the clicked head."""
        return open_head(view, texts)
