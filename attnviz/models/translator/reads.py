"""What a translator reads, in numbers that were measured on it; and whether a run says that it was lost."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from attnviz.tracing.trace import Trace

WRITING = 1e-3  # seconds: no target is written in less, and one that is given needs no more
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


def lost(trace: Trace, reads: Reads, unknown_id: int) -> str:
    """One sentence on what says that the model cannot read this input; "" where nothing does.

    A target that somebody typed tells nothing of how the source was read, and is left out.
    """
    src = trace.tokens("src")
    reasons = (
        _unknown([token.id for token in src], unknown_id),
        _length(len(src), reads.tokens),
        _unsure(sureness(trace), reads, trace.to) if wrote(trace) else "",
    )
    found = "; ".join(reason for reason in reasons if reason)
    return f"This model reads {reads.what}, and seems lost here: {found}." if found else ""


def _unknown(ids: list[int], unknown_id: int) -> str:
    count = ids.count(unknown_id)
    return f"{count} of {len(ids)} tokens are unknown to it" if count >= MOST_UNKNOWN * len(ids) else ""


def _length(count: int, tokens: tuple[int, int]) -> str:
    fewest, most = tokens
    if fewest <= count <= most:
        return ""
    return f"{count} tokens, where it learned from sentences of {fewest} to {most}, full stop and <eos> included"


def _unsure(found: float, reads: Reads, to: str) -> str:
    if to not in reads.least or not found < reads.least[to]:
        return ""
    return (
        f"it gave what it wrote a probability of {math.exp(found):.2f} a token, where {math.exp(reads.usual[to]):.2f} "
        "is usual"
    )
