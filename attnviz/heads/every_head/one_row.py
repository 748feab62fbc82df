"""The picture One row: the pinned row in every head of every layer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnviz.heads.every_head.every_head import Strips, one_row_payload
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.fields import choice, declare_unlinked, whole_number
from attnviz.kit.focus import FocusState, is_of_other_sentence, open_head
from attnviz.kit.picture import TabRules
from attnviz.kit.wire import Payload
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import labels, select
from attnviz.tracing.causes.switches import heads_off
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

NO_ROW = "No row is left to show: all tokens are special tokens, and these are hidden."
_LARGE = 4_000_000  # weights of a map; of larger maps one head is in memory at a time


@dataclass(frozen=True)
class OneRowState(FocusState):
    """State of the One row picture.

    `row` is the pinned row (None: the first). `open` reports a click that opens a head.
    """

    row: int | None = whole_number(used="no pinned row")
    scale: str = choice("fixed", {"fixed": "0 to 1", "max": "0 to max"})
    open: bool = declare_unlinked(default=False, shape=(bool, int))


def one_row(
    trace: TraceLike, state: OneRowState | None = None, *, options: MapOptions | None = None, cached: Cache = make_anew
) -> Payload:
    """Make the One row picture of a trace.

    Raise ValueError with a message of one sentence if no row is left to show.
    """
    state, options = state or OneRowState(), options or MapOptions()
    kind, layer, head = state.site_in(trace)
    axes = labels(trace, kind, options)
    if not axes[0]:
        raise ValueError(NO_ROW)
    row = state.row if state.row is not None and state.row < len(axes[0]) else 0

    def make() -> Payload:
        return one_row_payload(_strips(trace, kind, options, row), kind, kinds=trace.kinds, labels=axes, view={})

    made = cached("one_row", (trace, row, kind, options), make)
    return add_view(made, replace(state, kind=kind, layer=layer, head=head, row=row))


def _strips(trace: TraceLike, kind: Kind, options: MapOptions, row: int) -> Strips:
    """Return one row of every head's map.

    For a long text, only one layer's or one head's map is in memory at a time.
    """
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


class OneRowRules(TabRules):
    """Rules of the tab One row: a click on a head opens it in the tab Heads. A row of another sentence is unpinned."""

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters after a click: open the clicked head, or adopt the row and the kind."""
        return open_head(view, texts | ({"row": ""} if is_of_other_sentence(view, shown.texts) else {}))
