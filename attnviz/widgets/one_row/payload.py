"""The data of the One row component: one row of every head's map, a strip a head, and the rows to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.widgets.base.payload import common_header, payload_of
from attnviz.widgets.entries import col_entries, row_entries
from attnviz.widgets.wire import Blobs, Payload

if TYPE_CHECKING:
    from attnviz.maps.grouping import ColLabel, RowLabel


@dataclass(frozen=True, eq=False)
class Strips:
    """One row of every head: `weights` float32; `seen` says which keys any head may see; `off` are the heads that are
    off, as (layer, head); `numbers` the layers' own in the model, where others of its layers do not attend; `left_out`
    is the maps' sentence for a legend.
    """

    row: int
    weights: Float[Tensor, "layers heads keys"]
    seen: Bool[Tensor, " keys"]
    off: Sequence[tuple[int, int]] = ()
    numbers: Sequence[int] = ()
    left_out: str = ""


def one_row_payload(
    strips: Strips, kind: str, *, kinds: Sequence[str], labels: "tuple[Sequence[RowLabel], Sequence[ColLabel]]",
    view: dict[str, Any],
) -> Payload:  # fmt: skip
    """The bytes that the One row component draws from; `labels` are those of all rows and of the keys."""
    blobs, (rows, cols) = Blobs(), labels
    header = common_header(kind, kinds, blobs) | {
        "shape": list(strips.weights.shape),
        "strips": blobs.add(strips.weights.contiguous().numpy().astype("<f4")),
        "row": strips.row,
        "rows": [[row.input, row.output] for row in rows],
        "cols": [col.text for col in cols],
        "row_entries": row_entries(rows),
        "col_entries": col_entries(cols),
        "unseen": (~strips.seen).nonzero().flatten().tolist(),
        "off": [list(head) for head in strips.off],
        "layer_numbers": list(strips.numbers),
        "left_out": strips.left_out,
    }
    return payload_of(header, view, blobs)
