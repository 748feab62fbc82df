"""Pack the numbers that the drawing plays: those of one run, read from its trace alone.

Of each kind of attention they are one head's: in every row its largest weights, and the context that they gather.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.kit.wire import Blobs
from attnviz.text.display import display_token

if TYPE_CHECKING:
    from torch import Tensor

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
    """The site that a page looks at, and its row; None for what it does not say, a mean of layers or heads among it."""

    kind: "Kind | None" = None
    layer: int | None = None
    head: int | None = None
    row: int | None = None


def numbers(trace: "TraceLike", model: "Model | None", here: Here, blobs: Blobs) -> dict[str, Any]:
    """Tokens, one head's rows of each kind, lengths of hidden states, and the next tokens, as the header has them."""
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
    """Return the kind whose rows the drawing plays: the decoder's self-attention if the model has one."""
    return next(kind for kind in ("decoder_self", "encoder_self", "cross") if kind in trace.kinds)


def _head(trace: "TraceLike", kind: "Kind", here: Here, blobs: Blobs) -> dict[str, Any]:
    """Pack one head of a kind: that of the page, or as near to it as the kind has layers and heads."""
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
    """Pack the head's context vectors: their first numbers, how many they have, and their lengths."""
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
    """Compute the length of each token's vector, after the embedding and after each layer, stack by stack."""
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
    """List each row's likeliest next tokens with their probabilities; for an encoder, those of each position."""
    logits = getattr(trace, "logits", None)
    if logits is None or model is None:
        return []
    from attnviz.analysis.rerun import next_tokens

    def with_texts(found: "list[tuple[Token, float]]") -> list[list[Any]]:
        return [[display_token(token), chance] for token, chance in found]

    ask = next_tokens if model.writes else _likeliest_tokens
    return [with_texts(ask(model, row.float().cpu(), MOST_NEXT)) for row in logits[0, :MOST_ROWS]]


def _likeliest_tokens(model: "Model", logits: "Tensor", count: int) -> "list[tuple[Token, float]]":
    """List the likeliest tokens of an encoder with a head over the vocabulary, which forbids no id."""
    best = logits.softmax(dim=-1).topk(min(count, len(logits)))
    return [
        (model.decode_ids((id_,))[1][0], p) for id_, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def _first_row(trace: "TraceLike", here: Here) -> int:
    """Choose the row to play first: the pinned one if the decoder has it, else the middle one, or a prompt's last."""
    kind = main_kind(trace)
    count = min(len(trace.query_tokens(kind)), MOST_ROWS)
    if here.row is not None and here.row < count and (here.kind == "encoder_self") == (kind == "encoder_self"):
        return here.row
    return count - 1 if trace.kinds == ("decoder_self",) else count // 2


def _finite(value: float) -> float | None:
    """Return a finite number as it is, and None for NaN and infinity, which JSON lacks."""
    return value if math.isfinite(value) else None


def _float32(tensor: "Tensor") -> np.ndarray:
    return np.ascontiguousarray(tensor.numpy(), dtype="<f4")
