"""Traces with weights that a test writes down, so that every number can be checked by hand."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Kind, Site

BOS, EOS = "<bos:fr>", "<eos>"


def tokens(*pieces: str) -> tuple[Token, ...]:
    """`▁` starts a word, `<…>` is special, Chinese needs neither: "▁ho", "use", "<eos>"."""
    made, end = [], 0
    for id_, piece in enumerate(pieces):
        text, special = piece.removeprefix("▁"), piece.startswith("<")
        made.append(Token(text, id_, end, end + len(text), is_special=special, starts_word=piece.startswith("▁")))
        end += 0 if special else len(text)
    return tuple(made)


def _call(attn: Tensor, mask: Tensor | None) -> AttentionCall:
    # With the identity as keys the scores are the query itself; exp(-1e4) is 0 in float32.
    key = torch.eye(attn.shape[-1]).expand(1, attn.shape[1], -1, -1)
    return AttentionCall(attn.log().clamp(min=-1e4), key, key, scale=1.0, mask=mask)


def trace_of(
    kind: Kind,
    attn: Tensor | Sequence,
    *,
    src: tuple[Token, ...] = (),
    tgt: tuple[Token, ...] = (),
    mask: Tensor | None = None,
    cut: bool = False,
) -> Trace:
    """Make a trace of one kind with these weights: attn `(layers, heads, q_len, k_len)` or less, rows summing to 1."""
    maps = torch.as_tensor(attn, dtype=torch.float32)
    maps = maps.reshape(*(1,) * (4 - maps.ndim), *maps.shape)
    calls = {Site(kind, layer): _call(one[None], mask) for layer, one in enumerate(maps)}
    return Trace(calls, {}, {}, (Sentence(src=src, tgt=tgt, cut=cut),))


POND = tokens("▁po", "nd", ".", EOS)
ENCODER = [
    [0.1, 0.2, 0.3, 0.4],
    [0.5, 0.1, 0.1, 0.3],
    [0.0, 0.25, 0.25, 0.5],
    [0.2, 0.2, 0.2, 0.4],
]


def close(actual: torch.Tensor, expected: list) -> bool:
    """Whether a map is the one that was worked out by hand."""
    return torch.allclose(actual, torch.tensor(expected), atol=1e-6)
