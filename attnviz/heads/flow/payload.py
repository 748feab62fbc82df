"""Data for the Flow component: how each sublayer mixes tokens, from which the browser traces any row back to the text.

The browser itself applies the residual share, so that its slider needs no answer from Python.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.kit.entries import LabelEntries, entries_of
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.wire import Blobs, Payload
from attnviz.text.display import display_token

if TYPE_CHECKING:
    from attnviz.analysis.contributions import Contributions
    from attnviz.analysis.mixing import Mix
    from attnviz.text.tokens import Token
    from attnviz.tracing.trace_like import TraceLike
    from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class FlowFacts:
    """Facts shown beside the Flow picture.

    `measured` is the measured share of the residual, 0 to 1, or None. `why_no_alti` and `why_no_flow` say why ALTI or
    maximum flow is unavailable ("" if available). `errors` are pairs of a method and its alignment error rate, and
    `errors_of` names the sentences they were measured on. `opens_on` says with which method Flow starts, and why.
    """

    measured: float | None = None
    why_no_alti: str = ""
    why_no_flow: str = ""
    errors: Sequence[tuple[str, float]] = ()
    errors_of: str = ""
    opens_on: str = ""


def flow_payload(trace: "TraceLike", mixes: "Mapping[str, Sequence[Mix]]", facts: FlowFacts) -> Payload:
    """Pack the data that the Flow component draws. `mixes` by method must include "rollout", without a residual."""
    blobs, first = Blobs(), mixes["rollout"]
    kind = first[-1].kind
    outputs = trace.output_tokens(kind) or (None,) * len(first[-1].read)
    inputs = trace.query_tokens(kind)
    header = common_header(kind, trace.kinds, blobs) | {
        "sublayers": [_sublayer(trace, mix) for mix in first],
        "read": {name: [blobs.add(_float32(mix)) for mix in some] for name, some in mixes.items()},
        "rows": [
            [display_token(one), other and display_token(other)] for one, other in zip(inputs, outputs, strict=True)
        ],
        "row_entries": _row_entries(inputs, outputs),
        **_texts("source", _source(trace)),
        **_texts("target", inputs if kind != "encoder_self" else ()),
        "facts": asdict(facts),
        "flow": None,
    }
    return payload_of(header, {}, blobs)


def with_flow(payload: Payload, row: int, residual: int, found: "Contributions") -> Payload:
    """Return the payload with the maximum flow from one row, at a residual share in percent."""
    flow = {"row": row, "residual": residual, "source": found.source[0].tolist(), "target": found.target[0].tolist()}
    name = hashlib.blake2b(f"{payload.header['id']}{json.dumps(flow)}".encode(), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "flow": flow, "id": name})


def _sublayer(trace: "TraceLike", mix: "Mix") -> dict[str, Any]:
    rows, keys = mix.read.shape
    return {"kind": mix.kind, "layer": trace.layer_name(mix.kind, mix.layer), "rows": rows, "keys": keys}


def _source(trace: "TraceLike") -> "Sequence[Token]":
    """Return the tokens that the encoder reads, or those that cross-attention reads if the encoder is unknown."""
    kinds: list[Kind] = [kind for kind in trace.kinds if kind != "decoder_self"]
    return trace.key_tokens(kinds[0]) if kinds else ()


def _texts(name: str, tokens: "Sequence[Token]") -> dict[str, Any]:
    found = entries_of([[token] for token in tokens])
    return {name: [display_token(token) for token in tokens], f"{name}_entries": found}


def _row_entries(inputs: "Sequence[Token]", outputs: "Sequence[Token | None]") -> list[list[LabelEntries]]:
    both = [entries_of([[token] if token else [] for token in tokens]) for tokens in (inputs, outputs)]
    return [list(pair) for pair in zip(both[0], both[1] or [[]] * len(inputs), strict=True)] if both[0] else []


def _float32(mix: "Mix") -> np.ndarray:
    return np.ascontiguousarray(mix.read.numpy(), dtype="<f4")
