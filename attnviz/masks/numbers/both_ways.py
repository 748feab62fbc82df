"""Candidates for the next token at one position under a mask: written step by step, and in one pass over the target.

Step by step the target ends at the position, so that no mask decides whether its future is seen: there is none. In one
pass, as in training, the rest of the target is there, and the mask decides.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.analysis.rerun import next_tokens, run_again
from attnviz.masks.numbers.effect import Effect
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.trace import Trace

Candidates = list[tuple[Token, float]]


@dataclass(frozen=True)
class BothWays:
    """The likeliest next tokens at one position: without the mask, and with it both ways; empty for NaN.

    `apart` is the largest difference of a token's probability between the two ways, NaN where one of them is.
    `reads_ahead` says whether any position of the one pass gave weight to a later one, and `read_before` whether one
    did without the mask too.
    """

    before: Candidates
    step_by_step: Candidates
    one_pass: Candidates
    apart: float
    reads_ahead: bool
    read_before: bool = False


@dataclass(frozen=True)
class Changed:
    """Of how many positions of one pass the likeliest next token changed, and at how many there is none any more."""

    other: int
    nan: int
    positions: int


def up_to(trace: Trace, step: int) -> Trace:
    """Cut a trace's sentences to what is written when row `step` is the last."""
    cut = (replace(each, tgt=each.tgt_in[: step + 1], cut=True) for each in trace.sentences)
    return replace(trace, sentences=tuple(cut))


def run_up_to(model: Model, trace: Trace, probe: MaskOverride, step: int) -> Trace:
    """Record the pass that writing makes at row `step`. Raises RuntimeError where torch refuses."""
    return run_again(model, up_to(trace, step), probe.start_at(0))


def both_ways(model: Model, effect: Effect, written: Trace, *, item: int = 0) -> BothWays:
    """Compare at the last row of `written`, a run of `run_up_to`; `effect` holds the passes over the whole target."""
    step = len(written.sentences[item].tgt_in) - 1
    before, one_pass, alone = (_logits(run)[item, step] for run in (effect.before, effect.after, written))
    apart = (_chances(model, one_pass) - _chances(model, alone)).abs().max()
    found = [next_tokens(model, logits) for logits in (before, alone, one_pass)]
    ahead = reads_ahead(effect.after, item)
    own = reads_ahead(effect.before, item)
    return BothWays(*found, apart=float(apart), reads_ahead=ahead, read_before=own)


def reads_ahead(trace: Trace, item: int = 0) -> bool:
    """Whether a target position of this run gave weight to one that comes after it."""
    if "decoder_self" not in trace.kinds:
        return False
    return bool((trace.attn("decoder_self", item=item).triu(1) > 0).any())


def count_changed_rows(model: Model, effect: Effect, *, item: int = 0) -> Changed:
    """Count the rows of one pass over the whole target whose likeliest next token changed, without padding."""
    ins = effect.before.query_tokens("decoder_self", item)
    real = torch.tensor([not model.is_pad(token) for token in ins])
    before, after = (_logits(run)[item][real] for run in (effect.before, effect.after))
    nan = after.isnan().any(dim=-1)
    other = model.vocabulary.forbid(before).argmax(dim=-1) != model.vocabulary.forbid(after).argmax(dim=-1)
    return Changed(int((other & ~nan).sum()), int(nan.sum()), len(nan))


def _chances(model: Model, logits: Tensor) -> Tensor:
    return model.vocabulary.forbid(logits[None])[0].float().softmax(dim=-1)


def _logits(trace: Trace) -> Tensor:
    if trace.logits is None:
        raise ValueError("This trace was recorded without logits, so that there are no next tokens to show.")
    return trace.logits.cpu()
