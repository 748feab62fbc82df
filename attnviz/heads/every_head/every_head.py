"""The pictures of every head of every layer: Whole model draws all maps in 8 bits, One row draws one row of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import NO_HELP, Cache, Host, make_anew
from attnviz.kit.fields import choice, declare_unlinked, whole_number
from attnviz.kit.focus import FocusState, is_of_other_sentence, open_head
from attnviz.kit.payload import axis_spans, col_entries, common_header, payload_of, row_entries
from attnviz.kit.picture import TabRules
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.blocks import ShownMaps
from attnviz.maps.lazy import maps_overview
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN, labels, said_of
from attnviz.tracing.causes.switches import heads_off
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

NO_ROW = "There is no row to show, because all tokens are special tokens and special tokens are hidden."


@dataclass(frozen=True, eq=False)
class Strips:
    """One row of every head.

    `weights` is float32, and `seen` is True for keys that any head may attend to. `off` are the switched-off heads as
    (layer, head). `numbers` are the layer indices in the model if some of its layers have no attention. `left_out` is
    the legend's remark about hidden tokens.
    """

    row: int
    weights: Float[Tensor, "layers heads keys"]
    seen: Bool[Tensor, " keys"]
    off: Sequence[tuple[int, int]] = ()
    numbers: Sequence[int] = ()
    left_out: str = ""


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
    """Compute one row of every head's map, and no other row."""
    (layers, heads), axes = trace.shape(kind), labels(trace, kind, options)
    shown = ShownMaps(trace, kind, axes, options)
    together, seen = [], torch.zeros(len(axes[1]), dtype=torch.bool)
    for layer in range(layers):
        together.append(shown.one_row(layer, row))
        seen |= shown.mask(layer)[:, row].any(dim=0)
    left_out = said_of(trace.one_layer(kind, layers - 1), kind, options, axes[1])["left_out"]
    off = [head[1:] for head in sorted(heads_off(trace.interventions, {kind: (layers, heads)}))]
    return Strips(row, torch.stack(together), seen, off, trace.own_numbers(kind), left_out)


class OneRowRules(TabRules):
    """Rules of the tab One row: a click on a head opens it in the tab Heads. A row of another sentence is unpinned."""

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters after a click: open the clicked head, or adopt the row and the kind."""
        return open_head(view, texts | ({"row": ""} if is_of_other_sentence(view, shown.texts) else {}))


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
    overview = maps_overview(trace, kind, options, side=SIDE)
    return overview.thumbnails, (len(overview.labels.rows), len(overview.labels.cols))


class EveryHeadRules(TabRules):
    """Rule of the tab Whole model: a click on a head opens it in the tab Heads."""

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters that open the clicked head."""
        return open_head(view, texts)


if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel

    Labels = tuple[Sequence[RowLabel], Sequence[ColLabel]]

SIDE = 48  # cells; with twelve heads side by side there is no space for more pixels


def one_row_payload(
    strips: Strips, kind: str, *, kinds: Sequence[str], labels: "Labels", view: dict[str, Any]
) -> Payload:
    """Pack one row of every head. `labels` are the labels of all rows and of the keys."""
    blobs = Blobs()
    header = common_header(kind, kinds, blobs) | {
        "form": "row",
        "shape": list(strips.weights.shape),
        "strips": blobs.add(strips.weights.contiguous().numpy().astype("<f4")),
        "row": strips.row,
        **_labels(labels),
        "unseen": (~strips.seen).nonzero().flatten().tolist(),
        "off": [list(head) for head in strips.off],
        "layer_numbers": list(strips.numbers),
        "left_out": strips.left_out,
    }
    return payload_of(header, view, blobs)


def whole_model_payload(
    thumbs: UInt8[Tensor, "layers heads rows cols"],
    kind: str,
    *,
    kinds: Sequence[str],
    size: tuple[int, int],
    view: dict[str, Any],
    labels: "Labels" = ((), ()),
    numbers: Sequence[int] = (),
) -> Payload:
    """Pack every head's map for the Whole model widget.

    Args:
        thumbs: every head's map, 0 to 255, from `Trace.thumbnails` or `attnviz.tracing.thumbnails.thumbnail`.
        kind: attention kind of the maps.
        kinds: all kinds that the model has.
        size: numbers of rows and columns of the full-size maps.
        view: the head in focus and how it is drawn, as the component reports them.
        labels: labels of the full-size maps' rows and columns, for tooltips.
        numbers: layer indices in the model if some of its layers have no attention.
    """
    blobs = Blobs()
    header = common_header(kind, kinds, blobs) | {
        "form": "maps",
        "shape": list(thumbs.shape),
        "size": list(size),
        "maps": blobs.add(thumbs.numpy()),
        **_labels(labels),
        "off": [],
        "layer_numbers": list(numbers),
    }
    return payload_of(header, view, blobs)


def _labels(labels: "Labels") -> dict[str, Any]:
    rows, cols = labels
    return {
        "rows": [[row.input, row.output] for row in rows],
        "cols": [col.text for col in cols],
        "row_entries": row_entries(rows),
        "col_entries": col_entries(cols),
        **axis_spans(rows, cols),
    }


@reads_arguments
def whole_model_of(trace: TraceLike, *, options: MapOptions = EVERY_TOKEN, host: Host = NO_HELP) -> Subject:
    """Show every head of every layer as a small map. `options` can hide special tokens or merge pieces."""

    def draw(state: WholeModelState) -> Payload:
        return whole_model(trace, state, options=options, cached=host.cached)

    return of_trace(trace, WholeModelState(trace.kinds[-1]), draw, unanswered=("open",))


@reads_arguments
def one_row_of(trace: TraceLike, *, options: MapOptions = EVERY_TOKEN, host: Host = NO_HELP) -> Subject:
    """Show one row in every head of every layer. `options` can hide special tokens or merge pieces."""

    def draw(state: OneRowState) -> Payload:
        return one_row(trace, state, options=options, cached=host.cached)

    return of_trace(trace, OneRowState(trace.kinds[-1]), draw, unanswered=("open",))
