"""The lines of the few heads that are chosen, finer than those that all heads of a long text share a budget for."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.lines import FAINTEST, strongest_lines

MOST_HEADS = 4
BUDGET = 200_000  # lines of the chosen heads together, of six bytes each


def needs_fine_lines(payload: Payload, heads: Sequence[tuple[int, int]]) -> bool:
    """Whether a payload leaves lines of so few heads away that could be seen."""
    return 0 < len(heads) <= MOST_HEADS and payload.header["threshold"] > FAINTEST


def add_fine_lines(
    payload: Payload, heads: Sequence[tuple[int, int]], maps: Iterable[np.ndarray], *, budget: int = BUDGET
) -> Payload:
    """Return the payload of `links_payload` with finer lines of `heads`, whose `(rows, cols)` weights are `maps`.

    Under `fine` the header says which heads they are, from which weight on their lines are there and what share of
    each head's weight they carry; `base` stays, and `id` is a name of its own.
    """
    lines = strongest_lines((attn[None] for attn in maps), budget)
    header, blobs = payload.header, payload.blobs
    added, begins = Blobs(), len(blobs) + -len(blobs) % 4
    fine = {
        "heads": [list(head) for head in heads],
        "starts": begins + added.add(lines.starts),
        "line_cols": begins + added.add(lines.cols),
        "line_weights": begins + added.add(lines.weights),
        "count": len(lines.cols),
        "threshold": lines.threshold,
        "shares": [round(float(share), 5) for share in lines.shares[:, 0]],
    }
    name = hashlib.blake2b(repr((header["id"], fine)).encode(), digest_size=8).hexdigest()
    return Payload({**header, "fine": fine, "id": name}, blobs + bytes(-len(blobs) % 4) + added.join())
