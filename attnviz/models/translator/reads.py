"""What a translator reads, in numbers that were measured on it; and whether a run says that it was lost."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from attnviz.text.display import display
from attnviz.tracing.trace import Trace

WRITING = 1e-3  # seconds: no target is written in less, and one that is given needs no more
MOST_NAMED = 6  # unknown texts
MOST_UNKNOWN = 0.2  # share of source tokens: ordinary sentences have none, other scripts more than half


@dataclass(frozen=True)
class Reads:
    """What a model learned to read. Measured with the weights that `weights` names, by `python -m attnviz.training
    --reads`.

    `what` is that in words; `tokens` the fewest and the most that the sentences have that it learned from (the longest
    of a thousand, two, left out); `usual` and `least` give for each
    language the median of `sureness` on held-out sentences, and the value that a share `alarms` of them falls below.
    """

    what: str
    weights: str
    tokens: tuple[int, int]
    usual: Mapping[str, float]
    least: Mapping[str, float]
    sentences: int
    alarms: float

    @classmethod
    def of(cls, said: Any) -> "Reads | None":
        """From a config; None where it says nothing, or nothing that can be used."""
        try:
            return cls(**(said | {"tokens": (int(said["tokens"][0]), int(said["tokens"][1]))}))
        except (TypeError, KeyError, ValueError, IndexError):
            return None

    def to_dict(self) -> dict[str, Any]:
        """As `config.json` holds it."""
        return asdict(self)


def sureness(trace: Trace) -> float:
    """The mean log-probability of what came out of each row, as the model gives it; NaN without logits."""
    if trace.logits is None or not trace.sentences[0].tgt_out:
        return math.nan
    said = [token.id for token in trace.sentences[0].tgt_out if token.id >= 0]  # where it was cut, the last is none
    chosen = torch.tensor(said, device=trace.logits.device)
    likely = trace.logits[0, : len(said)].float().log_softmax(dim=-1)
    return float(likely.gather(1, chosen.unsqueeze(1)).mean())


def wrote(trace: Trace) -> bool:
    """Whether the model wrote the target, or would have: a link carries what it once wrote, and gives it back."""
    if trace.info.decoding_seconds > WRITING:
        return True
    if trace.logits is None:
        return False
    said = torch.tensor([token.id for token in trace.sentences[0].tgt_out], device=trace.logits.device)
    return bool(((trace.logits[0].argmax(dim=-1) == said) | (said < 0)).all())


def lost(trace: Trace, reads: Reads) -> str:
    """One sentence on what says that the model cannot read this input; "" where nothing does.

    A target that a person typed tells nothing of how the source was read, and is left out.
    """
    src = trace.tokens("src")
    reasons = (
        _length(len(src), reads.tokens),
        _unsure(sureness(trace), reads, trace.to) if wrote(trace) else "",
    )
    found = "; ".join(reason for reason in reasons if reason)
    if not found and sum(token.is_unknown for token in src) < MOST_UNKNOWN * len(src):
        return ""
    start = f"This model reads {reads.what} and is out of its depth here"
    return f"{start}: {found}." if found else f"{start}."


def unknown(trace: Trace) -> str:
    """One sentence on the tokens that were read as unknown text; "" where the vocabulary has every one."""
    sentence = trace.sentences[0]
    read = sentence.src or [token for token in sentence.tgt if not token.segment]
    found = [token for token in read if token.is_unknown]
    if not found:
        return ""
    texts = list(dict.fromkeys(display(token.text) for token in found))
    named = ", ".join(texts[:MOST_NAMED]) + (", …" if len(texts) > MOST_NAMED else "")
    tokens = "token is" if len(read) == 1 else "tokens is" if len(found) == 1 else "tokens are"
    piece = display(found[0].piece or "[UNK]")
    return f"{len(found)} of {len(read)} {tokens} unknown to the model, which reads {piece} instead: {named}"


def _length(count: int, tokens: tuple[int, int]) -> str:
    fewest, most = tokens
    if fewest <= count <= most:
        return ""
    return (
        f"your sentence has {count} tokens; it was trained on sentences of {fewest} to {most} (punctuation and <eos> "
        "included)"
    )


def _unsure(found: float, reads: Reads, to: str) -> str:
    if to not in reads.least or not found < reads.least[to]:
        return ""
    return (
        f"it was unsure: a probability of {math.exp(found):.2f} per token on average, where "
        f"{math.exp(reads.usual[to]):.2f} is usual"
    )
