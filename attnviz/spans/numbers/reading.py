"""What the answer reads of each span, token by token, and what each span reads of the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.spans.numbers.shares import SpanShares
from attnviz.text.spans import Span


@dataclass(frozen=True, eq=False)
class SpanReading:
    """Shares of the rows that matter to a picture; `columns` and `lengths` are those of `SpanShares`.

    `by_token` has a row for each token of the answer: the row that puts it out. `by_span` has one for each span: the
    mean over the rows that its own tokens go into, NaN where it has none.
    """

    columns: tuple[str, ...]
    lengths: tuple[int, ...]
    by_token: Float[Tensor, "layers heads tokens names"]
    by_span: Float[Tensor, "layers heads spans names"]


def cut_to_keys(spans: Sequence[Span], length: int) -> list[Span]:
    """Return spans with those of their tokens that are keys: what a model wrote last is none. Others are left out."""
    return [replace(span, end=min(span.end, length)) for span in spans if span.start < length]


def read_spans_of(shares: SpanShares, spans: Sequence[Span], answer: Span) -> SpanReading:
    """Select from `shares` what an answer and spans read. Raises ValueError for an answer that no row puts out."""
    rows = shares.shares.shape[2]
    if not 1 <= answer.start < answer.end <= rows + 1:
        raise ValueError(f"No row of this trace puts out the tokens {answer.start} to {answer.end}.")
    of_spans = [shares.shares[:, :, span.start : span.end].mean(dim=2) for span in spans]
    empty = shares.shares.new_zeros((*shares.shares.shape[:2], 0, shares.shares.shape[3]))
    by_span = torch.stack(of_spans, dim=2) if of_spans else empty
    return SpanReading(shares.names, shares.lengths, shares.shares[:, :, answer.start - 1 : answer.end - 1], by_span)
