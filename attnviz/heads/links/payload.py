"""The data of the Links component: every head as a small square, and the lines between tokens that can be seen.

A line is as opaque as its weight is large. One below `FAINTEST` would change no pixel by a single step of 255, so that
it is not sent; where a long text has more lines than the budget, the faintest of all go, and the header says from
which weight on lines are there and what share of each head's weight they carry.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.kit.entries import col_entries, row_entries
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.spans import axis_spans
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.lines import BUDGET, strongest_lines
from attnviz.tracing.thumbnails import clip_weights, thumbnail

if TYPE_CHECKING:
    from attnviz.maps.maps import EagerMaps

SQUARE = 24  # cells of a head's square


def links_payload(
    layers: "Iterable[EagerMaps]",
    kinds: Sequence[str],
    *,
    view: dict[str, Any],
    budget: int = BUDGET,
    numbers: Sequence[int] = (),
) -> Payload:
    """Make what the Links component draws from.

    Args:
        layers: the kind that is open, as it is shown: one `Shown` with all layers, or one after another.
        kinds: all kinds that there are.
        view: which heads are chosen, which token is held, how opacity is scaled; as the component reports it.
        budget: about how many lines of all heads together are sent.
        numbers: the layers' own in the model, where others of its layers do not attend.
    """
    squares: list[np.ndarray] = []
    labels: "list[EagerMaps]" = []

    def weights() -> Iterator[np.ndarray]:
        for maps in layers:
            labels[:] = labels or [maps]
            for attn in maps.attn:
                squares.append(thumbnail(clip_weights(attn), SQUARE).numpy())
                yield attn.numpy()

    blobs, lines = Blobs(), strongest_lines(weights(), budget)
    maps, small = labels[0], np.stack(squares)
    header = common_header(maps.kind, kinds, blobs) | {
        "shape": [len(small), *maps.attn.shape[1:]],
        "rows": [[row.input, row.output] for row in maps.rows],
        "cols": [col.text for col in maps.cols],
        "row_entries": row_entries(maps.rows),
        "col_entries": col_entries(maps.cols),
        "squares": {"offset": blobs.add(small), "height": small.shape[2], "width": small.shape[3]},
        "starts": blobs.add(lines.starts),
        "line_cols": blobs.add(lines.cols),
        "line_weights": blobs.add(lines.weights),
        "count": len(lines.cols),
        "threshold": lines.threshold,
        "shares": [[round(float(share), 5) for share in layer] for layer in lines.shares],
        "left_out": maps.left_out,
        "layer_numbers": list(numbers),
        **axis_spans(maps.rows, maps.cols),
    }
    return payload_of(header, view, blobs)
