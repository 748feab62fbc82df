"""Hide a span of the prompt from an answer by masking its keys, and compare the answer's log-probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.models.protocol import Model
from attnviz.spans.numbers.shares import span_shares, spans_of
from attnviz.text.tokens import Span
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Probe, Site, visible_cells

HiddenFrom = Literal["answer", "all later rows"]


@dataclass(frozen=True)
class HiddenKeys(Probe):
    """Probe that hides keys `start` to `end` of decoder self-attention from the queries `first_row` to `end_row`.

    It acts in every layer and head. A query still sees its own key, and all other keys stay as the model has them.
    """

    start: int
    end: int
    first_row: int
    end_row: int

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Mask the hidden span's keys in decoder self-attention, for the queries of the chosen rows."""
        if site.kind != "decoder_self":
            return call
        seen = visible_cells(call).clone()
        hidden = torch.zeros(seen.shape[-2:], dtype=torch.bool, device=seen.device)
        hidden[self.first_row : self.end_row, self.start : self.end] = True
        seen &= ~hidden.fill_diagonal_(False)
        return replace(call, mask=seen)


def answer_logprobs(trace: Trace, answer: Span, *, item: int = 0) -> Float[Tensor, " tokens"]:
    """Return the log-probability of each token in an answer, given all tokens before it.

    Raise ValueError if the trace has no logits, or if the answer starts at the first token.
    """
    if trace.logits is None:
        raise ValueError("This trace has no logits. Please trace with logits=True.")
    if answer.start < 1:
        raise ValueError("The answer begins with the first token, which no row outputs. Please choose a later span.")
    tokens = trace.sentences[item].tgt[answer.start : answer.end]
    rows = trace.logits[item, answer.start - 1 : answer.start - 1 + len(tokens)].float().cpu()
    return rows.log_softmax(dim=-1).gather(1, torch.tensor([[token.id] for token in tokens]))[:, 0]


def hide_spans(
    model: Model, trace: Trace, answer: Span, spans: Sequence[Span] | None = None, *,
    hidden_from: HiddenFrom = "answer", work: Cancellable | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Run the text again with each span hidden, and return a table with one row per span.

    The columns are the span, its number of tokens, the answer's log-probability with and without the span, the
    difference, and the span's share of the attention of the answer's rows, averaged over heads.

    `hidden_from` "answer" hides the span from the rows that output the answer; what earlier rows have read from the
    span still reaches the answer. If the span ends right before the answer, the first of these rows is the row of the
    span's last token, which keeps its own key. "all later rows" hides the span from every row after the span, so that
    nothing of the span reaches the answer. Spans that begin after the answer are left out. Each span is one step of
    `work`. Raise ValueError if the trace has no logits.
    """
    before, work = answer_logprobs(trace, answer), work or TO_THE_END
    rows = Span(answer.name, answer.start - 1, answer.end - 1)
    shares = span_shares(trace, spans)
    mean = shares.shares[:, :, rows.start : rows.end].mean(dim=(0, 1, 2))
    given = dict(zip(shares.names, mean.tolist(), strict=True))
    hidden = [span for span in spans_of(trace, spans) if span.start < answer.start]
    lines = []
    for span in work.iterate(hidden, len(hidden)):
        probe = HiddenKeys(span.start, span.end, rows.start if hidden_from == "answer" else span.end, rows.end)
        after = work.keep((probe, answer), partial(_logprob_under, model, trace, answer, probe))
        lines.append((span.name, len(span), float(before.sum()), after, given[span.name]))
    table = pd.DataFrame(lines, columns=["span", "tokens", "logprob", "without", "share"])
    table.insert(4, "difference", table["without"] - table["logprob"])
    return table


def _logprob_under(model: Model, trace: Trace, answer: Span, probe: Probe) -> float:
    return float(answer_logprobs(model.rerun(trace, probe), answer).sum())
