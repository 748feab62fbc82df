"""Share of each query's attention that goes to each span of a decoder's text, and to the tokens outside all spans.

`SpanReading` says what the answer reads of each span, token by token, and what each span reads of the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.mixing import norms
from attnviz.analysis.output_maps import OutputMap
from attnviz.text.tokens import Span, check_spans
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Site
from attnviz.transformer.row_blocks import RowBlock, blocks_of_maps

FIRST, REST, SINK = "first token", "other tokens", "sink"


@dataclass(frozen=True, eq=False)
class SpanShares:
    """Shares of decoder self-attention by span: `shares` has a column for each of `names`, and rows sum to 1.

    The first token has a column of its own and counts in no span, because most heads put excess weight on it. "other
    tokens" are in no span. There is a "sink" column if the heads have attention sinks. `lengths` is the number of
    tokens in each column, without the first token; 1 for a sink.
    """

    names: tuple[str, ...]
    shares: Float[Tensor, "layers heads rows names"]
    lengths: tuple[int, ...]

    def per_token(self) -> Float[Tensor, "layers heads rows names"]:
        """Return the shares divided by the number of tokens in each column: the mean share per token, 0 for an
        empty column.
        """
        return self.shares / torch.tensor(self.lengths).clamp(min=1)

    def table(self, rows: Span | None = None, *, per_token: bool = False) -> pd.DataFrame:
        """Return a table with one row per head and column: layer, head, span, tokens, share.

        The share is the mean over the rows of the span `rows`, or over all rows.
        """
        values = self.per_token() if per_token else self.shares
        chosen = values if rows is None else values[:, :, rows.start : rows.end]
        if not chosen.shape[2]:
            raise ValueError(f"The span “{rows.name if rows else ''}” has no row in this trace.")
        shares = chosen.mean(dim=2)
        layers, heads, columns = shares.shape
        index = torch.cartesian_prod(torch.arange(layers), torch.arange(heads), torch.arange(columns)).numpy()
        return pd.DataFrame(
            {
                "layer": index[:, 0],
                "head": index[:, 1],
                "span": [self.names[column] for column in index[:, 2]],
                "tokens": [self.lengths[column] for column in index[:, 2]],
                "share": shares.flatten().numpy(),
            }
        )


def span_shares(trace: TraceLike, spans: Sequence[Span] | None = None, *, item: int = 0) -> SpanShares:
    """Sum the weights of decoder self-attention over spans, by default over the turns of the conversation.

    Raise ValueError if the trace has no decoder or no spans, or if spans overlap or contain no token.
    """
    blocks = (trace.row_blocks("decoder_self", layer, item=item) for layer in range(trace.shape("decoder_self")[0]))
    return _shares(trace, spans, blocks, trace.sink_weights("decoder_self", item=item), item)


def span_norms(
    trace: Trace, own: Sequence[OutputMap], spans: Sequence[Span] | None = None, *, item: int = 0
) -> SpanShares:
    """Sum ‖α f(x)‖, the norm of what a head writes from each key (Kobayashi et al. 2020), over spans.

    The sums are given as shares of the row's total. `own` is `W_o` of each layer. A sink writes nothing.
    """
    written = (norms(each, trace, Site("decoder_self", at), item=item) for at, each in enumerate(own))
    return _shares(trace, spans, (blocks_of_maps(_of_whole(layer)) for layer in written), None, item)


def spans_of(trace: TraceLike, spans: Sequence[Span] | None, item: int = 0) -> tuple[Span, ...]:
    """Return `spans` after checking them, or by default the trace's own spans, without tokens that are not keys."""
    length = len(trace.key_tokens("decoder_self", item=item))
    if spans is not None:
        return check_spans(spans, length)
    known = trace.sentences[item].spans
    kept = [Span(each.name, each.start, min(each.end, length), each.role) for each in known if each.start < length]
    if not kept:
        raise ValueError(
            "This trace has no spans. Please pass spans=…, or trace a conversation (messages=…), whose "
            "turns become spans."
        )
    return tuple(kept)


def _of_whole(written: Tensor) -> Tensor:
    """Divide each row by its sum; leave a row of zeros unchanged."""
    whole = written.sum(dim=-1, keepdim=True)
    return torch.where(whole > 0, written / whole, 0.0)


def _shares(
    trace: TraceLike, spans: Sequence[Span] | None, layers: Iterable[Iterable[RowBlock]], sink: Tensor | None, item: int
) -> SpanShares:
    """Sum the weights in the blocks of each layer over spans."""
    chosen = spans_of(trace, spans, item)
    # Columns: first token, spans, other tokens.
    members = torch.zeros(len(trace.key_tokens("decoder_self", item=item)), len(chosen) + 2)
    members[:, -1] = 1
    for column, span in enumerate(chosen, start=1):
        members[span.start : span.end, column] = 1
        members[span.start : span.end, -1] = 0
    members[0] = torch.eye(len(chosen) + 2)[0]
    rows = len(trace.query_tokens("decoder_self", item=item))
    values = torch.zeros(*trace.shape("decoder_self"), rows, members.shape[1])
    for layer, blocks in zip(values, layers, strict=True):
        for block in blocks:
            layer[block.heads, block.rows] = block.attn.float().cpu() @ members[block.keys]
    lengths = [int(count) for count in members.sum(dim=0)]
    names = [FIRST, *(span.name for span in chosen), REST]
    if sink is not None:
        values = torch.cat((values, sink.unsqueeze(-1)), dim=-1)
        names, lengths = [*names, SINK], [*lengths, 1]
    return SpanShares(tuple(names), values, tuple(lengths))


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
        raise ValueError(f"No row of this trace outputs the tokens {answer.start} to {answer.end}.")
    of_spans = [shares.shares[:, :, span.start : span.end].mean(dim=2) for span in spans]
    empty = shares.shares.new_zeros((*shares.shares.shape[:2], 0, shares.shares.shape[3]))
    by_span = torch.stack(of_spans, dim=2) if of_spans else empty
    return SpanReading(shares.names, shares.lengths, shares.shares[:, :, answer.start - 1 : answer.end - 1], by_span)
