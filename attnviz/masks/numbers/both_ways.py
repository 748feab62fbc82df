"""Next-token candidates at one position under a mask, computed step by step and in one pass over the target.

Step by step, the target ends at the position, so no later token exists for a mask to reveal. In one pass, as in
training, the rest of the target is there, and the mask decides whether it is visible.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.analysis.rerun import next_tokens
from attnviz.masks.numbers.effect import Effect
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.trace import Trace

Candidates = list[tuple[Token, float]]


@dataclass(frozen=True)
class BothWays:
    """The most probable next tokens at one position: without the mask, and with the mask in both ways; empty if NaN.

    `apart` is the largest difference of a token's probability between the two ways, NaN if either is NaN. `reads_ahead`
    says whether any position in the one pass attends to a later position, and `read_before` whether one does without
    the mask.
    """

    before: Candidates
    step_by_step: Candidates
    one_pass: Candidates
    apart: float
    reads_ahead: bool
    read_before: bool = False


@dataclass(frozen=True)
class Changed:
    """Number of positions in one pass whose most probable next token changed, and whose logits became NaN."""

    other: int
    nan: int
    positions: int


def up_to(trace: Trace, step: int) -> Trace:
    """Truncate a trace's sentences after the input of row `step`, as when the model writes that row."""
    cut = (replace(each, tgt=each.tgt_in[: step + 1], cut=True) for each in trace.sentences)
    return replace(trace, sentences=tuple(cut))


def run_up_to(model: Model, trace: Trace, probe: MaskOverride, step: int) -> Trace:
    """Run the model on the target up to row `step` with the mask. Raise RuntimeError if torch refuses the mask."""
    return model.rerun(up_to(trace, step), probe.start_at(0))


def both_ways(model: Model, effect: Effect, written: Trace, *, item: int = 0) -> BothWays:
    """Compare the next tokens at the last row of `written`, which `run_up_to` made.

    `effect` has the passes over the whole target.
    """
    step = len(written.sentences[item].tgt_in) - 1
    before, one_pass, alone = (_logits(run)[item, step] for run in (effect.before, effect.after, written))
    apart = (_chances(model, one_pass) - _chances(model, alone)).abs().max()
    found = [next_tokens(model, logits) for logits in (before, alone, one_pass)]
    ahead = reads_ahead(effect.after, item)
    own = reads_ahead(effect.before, item)
    return BothWays(*found, apart=float(apart), reads_ahead=ahead, read_before=own)


def reads_ahead(trace: Trace, item: int = 0) -> bool:
    """Return whether a target position in this run gives weight to a later position."""
    if "decoder_self" not in trace.kinds:
        return False
    return bool((trace.attn("decoder_self", item=item).triu(1) > 0).any())


def count_changed_rows(model: Model, effect: Effect, *, item: int = 0) -> Changed:
    """Count the rows of one pass over the whole target whose most probable next token changed, ignoring padding."""
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
        raise ValueError("This trace was recorded without logits, so there are no next tokens to show.")
    return trace.logits.cpu()
