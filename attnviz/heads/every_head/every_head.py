"""Data for the widget that draws every head: all maps with eight bits per cell, or one row of each map in float32."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attnviz.kit.entries import col_entries, row_entries
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.spans import axis_spans
from attnviz.kit.wire import Blobs, Payload

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel

    Labels = tuple[Sequence[RowLabel], Sequence[ColLabel]]

SIDE = 48  # cells; with twelve heads side by side there is no space for more pixels


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
