"""Hide a span from an answer: cut its keys out of the rows that write the answer, and compare the log-probabilities."""

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
from attnviz.text.spans import Span
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Probe, Site, visible_cells

HiddenFrom = Literal["answer", "all later rows"]


@dataclass(frozen=True)
class HiddenKeys(Probe):
    """Hide the keys `start` to `end` of the decoder's self-attention from rows `first_row` to `end_row`, in every layer
    and head; what a row may see besides stays as the model has it, and so does its own key.
    """

    start: int
    end: int
    first_row: int
    end_row: int

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Take the keys out of the mask of those rows."""
        if site.kind != "decoder_self":
            return call
        seen = visible_cells(call).clone()
        hidden = torch.zeros(seen.shape[-2:], dtype=torch.bool, device=seen.device)
        hidden[self.first_row : self.end_row, self.start : self.end] = True
        seen &= ~hidden.fill_diagonal_(False)
        return replace(call, mask=seen)


def answer_logprobs(trace: Trace, answer: Span, *, item: int = 0) -> Float[Tensor, " tokens"]:
    """Return the log-probability of each token of an answer, given all before it. Raises ValueError for a trace without
    logits, and for an answer that begins with the text.
    """
    if trace.logits is None:
        raise ValueError("This trace has no logits: trace with logits=True.")
    if answer.start < 1:
        raise ValueError("The answer begins with the first token, which no row puts out: take a later span.")
    tokens = trace.sentences[item].tgt[answer.start : answer.end]
    rows = trace.logits[item, answer.start - 1 : answer.start - 1 + len(tokens)].float().cpu()
    return rows.log_softmax(dim=-1).gather(1, torch.tensor([[token.id] for token in tokens]))[:, 0]


def hide_spans(
    model: Model, trace: Trace, answer: Span, spans: Sequence[Span] | None = None, *,
    hidden_from: HiddenFrom = "answer", work: Cancellable | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Run the text again with each span hidden, and return one line for each span: its tokens, the answer's
    log-probability with and without the span, the difference, and the span's share of the answer rows' attention,
    averaged over heads.

    "answer" hides the span from the rows that output the answer; what earlier rows have read of the span still reaches
    the answer. If the span ends right before the answer, the first of these rows belongs to the span's last token, and
    keeps its own key. "all later rows" hides the span from every row behind it, so that nothing of the span reaches the
    answer. Spans that begin after the answer are left out. Each span is a step of `work`. Raises ValueError for a trace
    without logits.
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
