"""The data for the drawing of a model: its structure, the links of its parts, and the values of one run to animate.

All values come from the run's trace. For each kind of attention these are the values of one head: the largest weights
in every row, and the context vectors.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.kit.payload import payload_of
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.text.display import display_token

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.models.plans import Structure
    from attnviz.models.protocol import Model
    from attnviz.text.tokens import Token
    from attnviz.tracing.trace_like import TraceLike
    from attnviz.transformer.probe import Kind

MOST_ROWS = 128  # of each kind: later rows cannot be asked about
MOST_KEYS = 6  # weights of a row that are listed one by one
MOST_DIMS = 64  # numbers of a context
MOST_NEXT = 5


@dataclass(frozen=True)
class Here:
    """The kind, layer, head and row that a page shows. What the page leaves open, or shows as a mean, is None."""

    kind: "Kind | None" = None
    layer: int | None = None
    head: int | None = None
    row: int | None = None


def numbers(trace: "TraceLike", model: "Model | None", here: Here, blobs: Blobs) -> dict[str, Any]:
    """Return the header's values: tokens, one head of each kind, norms of hidden states, and the next tokens."""
    sentence = trace.sentences[0]
    kinds = {kind: _head(trace, kind, here, blobs) for kind in trace.kinds}
    return {
        "src": [display_token(token) for token in sentence.src[:MOST_ROWS]],
        "tgt": [display_token(token) for token in sentence.tgt[:MOST_ROWS]],
        "counts": [len(sentence.src), len(sentence.tgt)],
        "kinds": kinds,
        "stream": _lengths(trace, blobs),
        "next": _next_tokens(trace, model),
        "row": _first_row(trace, here),
        "bare": trace.weights_only,
    }


def main_kind(trace: "TraceLike") -> "Kind":
    """Return the kind whose rows the drawing animates: the decoder's self-attention if the model has one."""
    return next(kind for kind in ("decoder_self", "encoder_self", "cross") if kind in trace.kinds)


def _head(trace: "TraceLike", kind: "Kind", here: Here, blobs: Blobs) -> dict[str, Any]:
    """Pack one head of a kind: the page's layer and head, or the last ones if the kind has fewer."""
    layers, heads = trace.shape(kind)
    layer, head = min(here.layer or 0, layers - 1), min(here.head or 0, heads - 1)
    attn = trace.attn(kind, layer=layer, head=head)[:MOST_ROWS]
    seen = trace.mask(kind, layer=layer, head=head)[:MOST_ROWS]
    best = attn.topk(min(MOST_KEYS, attn.shape[1]), dim=1)
    keys = trace.key_tokens(kind)
    return {
        "layer": layer,
        "head": head,
        "rows": [display_token(token) for token in trace.query_tokens(kind)[:MOST_ROWS]],
        "keys": {int(at): display_token(keys[at]) for at in sorted(set(best.indices.flatten().tolist()))},
        "top": [
            [[at, _finite(weight)] for at, weight in zip(*row, strict=True)]
            for row in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ],
        "seen": seen.sum(dim=1).tolist(),
        "total": [_finite(total) for total in attn.sum(dim=1).tolist()],
        "n_keys": attn.shape[1],
        "n_rows": len(trace.query_tokens(kind)),
        "context": _context(trace, kind, layer, head, blobs),
    }


def _context(trace: "TraceLike", kind: "Kind", layer: int, head: int, blobs: Blobs) -> dict[str, Any] | None:
    """Pack a head's context vectors: their first components, their size, and their norms."""
    try:
        gathered = trace.context(kind, layer)[head, :MOST_ROWS]
    except ValueError:  # bare weights, or weights that were handed in without contexts
        return None
    sent = gathered[:, :MOST_DIMS]
    return {
        "at": blobs.add(_float32(sent)),
        "sent": sent.shape[1],
        "d_k": gathered.shape[1],
        "length": [_finite(length) for length in gathered.norm(dim=1).tolist()],
    }


def _lengths(trace: "TraceLike", blobs: Blobs) -> dict[str, Any]:
    """Compute the norm of each token's vector after the embedding and after each layer, for encoder and decoder."""
    layers: Mapping[tuple[str, int], Tensor] = getattr(trace, "layers", {})
    found = {}
    for stack in ("encoder", "decoder"):
        numbers = sorted(at for name, at in layers if name == stack)
        if not numbers:
            continue
        lengths = [layers[stack, at][0, :MOST_ROWS].float().norm(dim=-1).cpu().numpy() for at in numbers]
        found[stack] = {"at": blobs.add(np.stack(lengths).astype("<f4")), "layers": numbers, "rows": len(lengths[0])}
    return found


def _next_tokens(trace: "TraceLike", model: "Model | None") -> list[list[list[Any]]]:
    """List the likeliest next tokens of each row with their probabilities; for an encoder, the tokens of each
    position. None for an image, whose logits belong to labels and not to its patches.
    """
    logits = getattr(trace, "logits", None)
    if logits is None or model is None or model.inputs.is_image:
        return []
    from attnviz.analysis.rerun import next_tokens

    def with_texts(found: "list[tuple[Token, float]]") -> list[list[Any]]:
        return [[display_token(token), chance] for token, chance in found]

    ask = next_tokens if model.writes else _likeliest_tokens
    return [with_texts(ask(model, row.float().cpu(), MOST_NEXT)) for row in logits[0, :MOST_ROWS]]


def _likeliest_tokens(model: "Model", logits: "Tensor", count: int) -> "list[tuple[Token, float]]":
    """List the likeliest tokens and their probabilities from the logits of an encoder's vocabulary head."""
    best = logits.softmax(dim=-1).topk(min(count, len(logits)))
    return [
        (model.decode_ids((id_,))[1][0], p) for id_, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def _first_row(trace: "TraceLike", here: Here) -> int:
    """Choose the row that the drawing animates first: the page's row if it exists, a prompt's last row, or the
    middle row.
    """
    kind = main_kind(trace)
    count = min(len(trace.query_tokens(kind)), MOST_ROWS)
    if here.row is not None and here.row < count and (here.kind == "encoder_self") == (kind == "encoder_self"):
        return here.row
    return count - 1 if trace.kinds == ("decoder_self",) else count // 2


def _finite(value: float) -> float | None:
    """Return a finite number unchanged, and None for NaN and infinity, which JSON lacks."""
    return value if math.isfinite(value) else None


def _float32(tensor: "Tensor") -> np.ndarray:
    return np.ascontiguousarray(tensor.numpy(), dtype="<f4")


def drawing_payload(
    built: "Structure", trace: "TraceLike | None", model: "Model | None", here: Here, *, why: str = ""
) -> Payload:
    """Make the payload of the drawing.

    Without a `trace` the drawing is not animated, and `why` says why in a sentence.
    """
    blobs = Blobs()
    header = {
        "built": _structure(built),
        "here": asdict(here),
        "names": {kind: KINDS[kind].name for kind in built.kinds},
        "run": None if trace is None else numbers(trace, model, here, blobs),
        "why": why,
    }
    return payload_of(header, {}, blobs)


def with_places(payload: Payload, places: Mapping[str, Mapping[str, str]]) -> Payload:
    """Add the addresses of the pages that the drawing's parts link to, as this visitor left those pages."""
    told = {page: dict(texts) for page, texts in places.items()}
    return payload._replace(header={**payload.header, "places": told})


def _structure(built: "Structure") -> dict[str, Any]:
    told = asdict(built)
    return told | {"stacks": [_stack(stack) for stack in told["stacks"]]}


def _stack(stack: dict[str, Any]) -> dict[str, Any]:
    return stack | {"layers": [layer | {"sites": [list(site) for site in layer["sites"]]} for layer in stack["layers"]]}
