"""The data of the Whole model component: every head's map in eight bits, and nothing else."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jaxtyping import UInt8
from torch import Tensor

from attnviz.widgets.base.payload import common_header, payload_of
from attnviz.widgets.entries import col_entries, row_entries
from attnviz.widgets.wire import Blobs, Payload

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel

SIDE = 48  # cells: twelve heads beside each other have no room for more pixels


def whole_model_payload(
    thumbs: UInt8[Tensor, "layers heads rows cols"],
    kind: str,
    *,
    kinds: Sequence[str],
    size: tuple[int, int],
    view: Any,
    labels: "tuple[Sequence[RowLabel], Sequence[ColLabel]]" = ((), ()),
    numbers: Sequence[int] = (),
) -> Payload:
    """The bytes that the Whole model component draws from.

    Args:
        thumbs: every head's map, 0 to 255, from `Trace.thumbnails` or `attnviz.tracing.thumbnails.thumbnail`.
        kind: which kind they are.
        kinds: all kinds that there are.
        size: rows and columns of the maps before they were made small.
        view: head in focus and way to draw, as the component reports it.
        labels: of the rows and columns before they were made small, for whoever points at one.
        numbers: the layers' own in the model, where others of its layers do not attend.
    """
    blobs, (rows, cols) = Blobs(), labels
    header = common_header(kind, kinds, blobs) | {
        "shape": list(thumbs.shape),
        "size": list(size),
        "maps": blobs.add(thumbs.numpy()),
        "rows": [[row.input, row.output] for row in rows],
        "cols": [col.text for col in cols],
        "row_entries": row_entries(rows),
        "col_entries": col_entries(cols),
        "layer_numbers": list(numbers),
    }
    return payload_of(header, view, blobs)
