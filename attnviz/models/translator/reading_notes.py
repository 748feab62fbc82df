"""Notes on sources that a translator cannot read well: unknown tokens, unusual lengths, uncertain translations."""

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.text.display import display
from attnviz.tracing.trace import Trace

MOST_NAMED = 6  # most unknown texts that a note names
MOST_UNKNOWN = 0.2  # share of unknown source tokens: 0 in ordinary sentences, more than half in other scripts


@dataclass(frozen=True)
class ReadableInputs:
    """The sentences that a model can read, in words and in values that were measured with `weights` when it was
    shipped.

    `what` describes the sentences. `tokens` are the fewest and the most tokens of its training sentences (without the
    longest 0.2 %). `usual` and `least` are log-probabilities per token of its own translations of held-out sentences,
    for each language: the median, and the value below which about 1.4 % fall.
    """

    what: str
    weights: str
    tokens: tuple[int, int]
    usual: Mapping[str, float]
    least: Mapping[str, float]

    @classmethod
    def from_config(cls, content: Any) -> "ReadableInputs | None":
        """Read the entry in a `config.json`; None if it is missing or malformed."""
        try:
            fewest, most = map(int, content["tokens"])
            return cls(content["what"], content["weights"], (fewest, most), content["usual"], content["least"])
        except (TypeError, KeyError, ValueError):
            return None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in the form of `config.json`."""
        return asdict(self)


def mean_log_probability(trace: Trace) -> float:
    """Return the mean log-probability that the model gives to the target's tokens; NaN without logits."""
    ids, logits = _target_ids_and_logits(trace)
    return float(logits.log_softmax(dim=-1).gather(1, ids.unsqueeze(1)).mean())


def is_own_translation(trace: Trace) -> bool:
    """Check whether the target is the model's own translation: written in this run, or equal to what it would write."""
    ids, logits = _target_ids_and_logits(trace)
    return len(ids) > 0 and (trace.info.decoding_seconds > 0 or torch.equal(logits.argmax(dim=-1), ids))


def out_of_depth_note(trace: Trace, readable: ReadableInputs) -> str:
    """Return a sentence that says why the model cannot read this source well, or "".

    A target that a person typed says nothing about how the source was read, so its probability is not used.
    """
    src = trace.tokens("src")
    reasons = (_length_reason(len(src), readable), _unsure_reason(trace, readable) if is_own_translation(trace) else "")
    found = "; ".join(filter(None, reasons))
    if not found and sum(token.is_unknown for token in src) < MOST_UNKNOWN * len(src):
        return ""
    start = f"This model reads {readable.what} and is out of its depth here"
    return f"{start}: {found}." if found else f"{start}."


def unknown_tokens_note(trace: Trace) -> str:
    """Return a sentence that names the source tokens that are not in the model's vocabulary, or ""."""
    sentence = trace.sentences[0]
    read = sentence.src or [token for token in sentence.tgt if not token.segment]
    found = [token for token in read if token.is_unknown]
    if not found:
        return ""
    texts = list(dict.fromkeys(display(token.text) for token in found))
    named = ", ".join(map(_isolated, texts[:MOST_NAMED])) + (", …" if len(texts) > MOST_NAMED else "")
    tokens = "token is" if len(read) == 1 else "tokens is" if len(found) == 1 else "tokens are"
    piece = display(found[0].piece or "[UNK]")
    return f"{len(found)} of {len(read)} {tokens} unknown to the model, which reads {piece} instead: {named}"


def _isolated(text: str) -> str:
    """Isolate right-to-left text with Unicode marks, so that it does not reorder the text around it."""
    is_turned = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text)
    return f"\u2068{text}\u2069" if is_turned else text


def _length_reason(count: int, readable: ReadableInputs) -> str:
    fewest, most = readable.tokens
    if fewest <= count <= most:
        return ""
    return (
        f"your sentence has {count} tokens; it was trained on sentences of {fewest} to {most} (punctuation and <eos> "
        "included)"
    )


def _unsure_reason(trace: Trace, readable: ReadableInputs) -> str:
    found = mean_log_probability(trace)
    if found >= readable.least.get(trace.to, -math.inf):
        return ""
    usual = math.exp(readable.usual[trace.to])
    return f"it gave its words a probability of {math.exp(found):.2f} on average; {usual:.2f} is usual"


def _target_ids_and_logits(trace: Trace) -> tuple[Tensor, Tensor]:
    """Return the target's ids `(length,)` and the logits `(length, vocab_size)` that predict them; both empty without
    logits.
    """
    # The "(cut)" token at the end of a cut target has no id.
    ids = [token.id for token in trace.sentences[0].tgt_out if token.id >= 0]
    if trace.logits is None:
        return torch.empty(0, dtype=torch.long), torch.empty(0, 1)
    return torch.tensor(ids, device=trace.logits.device), trace.logits[0, : len(ids)].float()
