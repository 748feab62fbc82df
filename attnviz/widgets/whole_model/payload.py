"""The data of the Whole model component: every head's map in eight bits, and nothing else."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import UInt8
from torch import Tensor

from attnviz.widgets.base.payload import common_header, payload_of
from attnviz.widgets.wire import Blobs, Payload

SIDE = 48  # cells: twelve heads beside each other have no room for more pixels


def whole_model_payload(
    thumbs: UInt8[Tensor, "layers heads rows cols"],
    kind: str,
    *,
    kinds: Sequence[str],
    size: tuple[int, int],
    view: Any,
) -> Payload:
    """The bytes that the Whole model component draws from.

    Args:
        thumbs: every head's map, 0 to 255, from `Trace.thumbnails` or `attnviz.tracing.thumbnails.thumbnail`.
        kind: which kind they are.
        kinds: all kinds that there are.
        size: rows and columns of the maps before they were made small.
        view: head in focus and way to draw, as the component reports it.
    """
    blobs = Blobs()
    header = common_header(kind, kinds, blobs) | {
        "shape": list(thumbs.shape),
        "size": list(size),
        "maps": blobs.add(thumbs.numpy()),
    }
    return payload_of(header, view, blobs)
