"""The data of the Neuron component: one head's queries and keys as they ran. Any pair is taken apart from them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from attnviz.kit.entries import entries_of
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.wire import Blobs, Payload
from attnviz.text.display import display_token

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike
    from attnviz.transformer.probe import Kind


def neuron_payload(
    trace: "TraceLike", kind: "Kind", *, layer: int, head: int, view: dict[str, Any], kinds: Sequence[str] | None = None
) -> Payload:
    """Make what the Neuron component draws from: float32 queries and keys, the scale, bias and mask if any.

    Positions are those of the tokens themselves, special ones included, not merged. Raises ValueError for a head that
    there is not, and for a trace of bare weights.
    """
    call = trace.call(kind, layer)
    if not 0 <= head < call.query.shape[1]:
        raise ValueError(f"There is no head {head}: this model has heads 0 to {call.query.shape[1] - 1}.")
    queries, keys = trace.query_tokens(kind), trace.key_tokens(kind)
    outputs = trace.output_tokens(kind) or (None,) * len(queries)
    q_len, k_len, d_k = len(queries), len(keys), call.query.shape[3]
    put_in, put_out = (entries_of([[token] if token else [] for token in tokens]) for tokens in (queries, outputs))
    blobs = Blobs()
    header = common_header(kind, kinds or trace.kinds, blobs) | {
        "layer": layer,
        "head": head,
        "sizes": [q_len, k_len, d_k],
        "layers_heads": list(trace.shape(kind)),
        "rows": [
            [display_token(one), other and display_token(other)] for one, other in zip(queries, outputs, strict=True)
        ],
        "cols": [display_token(token) for token in keys],
        "row_entries": [list(both) for both in zip(put_in, put_out or [[]] * q_len, strict=True)] if put_in else [],
        "col_entries": entries_of([[token] for token in keys]),
        "scale": float(call.scale),
        "softcap": call.softcap,
        "sink": None if call.sinks is None else float(call.sinks[0, head]),
        "query": blobs.add(_float32(call.query[0, head, :q_len])),
        "key": blobs.add(_float32(call.key[0, head, :k_len])),
        "bias": None if call.bias is None else blobs.add(_float32(_expand(call.bias, call, head)[:q_len, :k_len])),
        "mask": None if call.mask is None else blobs.add(_bytes(_expand(call.mask, call, head)[:q_len, :k_len])),
    }
    return payload_of(header, view, blobs)


def _expand(part: Tensor, call: Any, head: int) -> Tensor:
    """Expand a bias or mask of one head, `(q_len, k_len)`, whatever axes it was stored with."""
    return part.expand(*call.query.shape[:3], call.key.shape[2])[0, head]


def _float32(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy(), dtype="<f4")


def _bytes(mask: Tensor) -> np.ndarray:
    return np.ascontiguousarray(mask.cpu().numpy(), dtype=np.uint8)
