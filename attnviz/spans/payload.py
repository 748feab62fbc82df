"""Data for the Spans component: a decoder's tokens, its spans, and the share of attention that each span gets."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.kit.entries import entries_of
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.wire import Blobs, Payload
from attnviz.text.display import display, display_token

if TYPE_CHECKING:
    import pandas as pd

    from attnviz.spans.numbers.reading import SpanReading
    from attnviz.text.spans import Span
    from attnviz.tracing.trace_like import TraceLike


@dataclass(frozen=True)
class SpanFacts:
    """Facts shown beside the Spans picture.

    `rule` is the rule that made the spans ("" for spans by hand), and `rules` has each rule's title and why it finds
    nothing in this text. `why_no_norm` and `why_no_cause` say why ‖αf(x)‖ and runs with hidden spans are unavailable
    ("" if available).
    """

    is_conversation: bool = False
    rule: str = ""
    rules: Mapping[str, tuple[str, str]] | None = None
    why_no_norm: str = ""
    why_no_cause: str = ""


def spans_payload(
    trace: "TraceLike", spans: "Sequence[Span]", answer: "Span", reading: "SpanReading", facts: SpanFacts
) -> Payload:
    """Pack the data that the Spans component draws. `reading` must have the spans in the same order as `spans`."""
    blobs, tokens = Blobs(), trace.sentences[0].tgt
    layers, heads, *_ = reading.by_token.shape
    read = reading.by_span.nan_to_num(0)
    header = common_header("decoder_self", trace.kinds, blobs) | {
        "tokens": [display_token(token) for token in tokens],
        "entries": entries_of([[token] for token in tokens]),
        "joined": [at for at, token in enumerate(tokens) if not token.starts_word],
        "special": [at for at, token in enumerate(tokens) if token.is_special],
        "spans": [_span(span) for span in spans],
        "answer": [answer.start, answer.end],
        "columns": [display(name) for name in reading.columns],
        "lengths": list(reading.lengths),
        "layers": layers,
        "heads": heads,
        "numbers": list(trace.own_numbers("decoder_self")),
        "by_token": blobs.add(_float32(reading.by_token.numpy())),
        "by_span": blobs.add(_float32(read.numpy())),
        "unread": reading.by_span[0, 0].isnan().any(dim=-1).nonzero().flatten().tolist(),
        "facts": asdict(facts),
        "cause": None,
    }
    return payload_of(header, {}, blobs)


def with_cause(payload: Payload, table: "pd.DataFrame | None", hidden: str, why: str = "") -> Payload:
    """Return the payload with the `hide_spans` table of the effect of hiding each span, or with the reason why
    there is none.
    """
    lines = [] if table is None else table.to_dict("records")
    cause = {
        "hidden": hidden,
        "logprob": lines[0]["logprob"] if lines else None,
        "why": why,
        "lines": [
            [display(line["span"]), *(float(line[name]) for name in ("share", "without", "difference"))]
            for line in lines
        ],
    }
    name = hashlib.blake2b(f"{payload.header['id']}{json.dumps(cause)}".encode(), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "cause": cause, "id": name})


def with_asked(payload: Payload, **asked: str) -> Payload:
    """Return the payload with the choices that Python answered, so that the browser can recognise an outdated
    answer.
    """
    name = hashlib.blake2b(f"{payload.header['id']}{json.dumps(asked)}".encode(), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "asked": asked, "id": name})


def _span(span: "Span") -> dict[str, Any]:
    return {"name": display(span.name), "start": span.start, "end": span.end, "role": span.role}


def _float32(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype="<f4")
