"""Attention from each answer token to each span, and from each span to the other spans."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.spans.numbers.shares import SpanShares
from attnviz.text.spans import Span


@dataclass(frozen=True, eq=False)
class SpanReading:
    """Shares of attention by span, for the answer's rows and for each span's rows.

    `by_token` has for each answer token the row that outputs it. `by_span` has for each span the mean over the rows of
    its own tokens, NaN if there are none. `columns` and `lengths` are the `names` and `lengths` of `SpanShares`.
    """

    columns: tuple[str, ...]
    lengths: tuple[int, ...]
    by_token: Float[Tensor, "layers heads tokens names"]
    by_span: Float[Tensor, "layers heads spans names"]


def cut_to_keys(spans: Sequence[Span], length: int) -> list[Span]:
    """Return the spans without tokens that are not keys, such as the last written token. Empty spans are dropped."""
    return [replace(span, end=min(span.end, length)) for span in spans if span.start < length]


def read_spans_of(shares: SpanShares, spans: Sequence[Span], answer: Span) -> SpanReading:
    """Select from `shares` the rows of the answer and of the spans. Raise ValueError if no row outputs the answer."""
    rows = shares.shares.shape[2]
    if not 1 <= answer.start < answer.end <= rows + 1:
        raise ValueError(f"No row of this trace puts out the tokens {answer.start} to {answer.end}.")
    of_spans = [shares.shares[:, :, span.start : span.end].mean(dim=2) for span in spans]
    empty = shares.shares.new_zeros((*shares.shares.shape[:2], 0, shares.shares.shape[3]))
    by_span = torch.stack(of_spans, dim=2) if of_spans else empty
    return SpanReading(shares.names, shares.lengths, shares.shares[:, :, answer.start - 1 : answer.end - 1], by_span)
