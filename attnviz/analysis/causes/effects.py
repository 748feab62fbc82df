"""What each single head is worth to a sentence: how much less likely its target gets, and what is written instead.

Every head is ablated in a run of its own, all of them in a few passes; what they were put back to is the same target,
so that tokens stay comparable. One head is rarely decisive, and one sentence tells a story that many refute (Michel et
al. 2019): an effect is to be read beside its spread over a reference set.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.causes.runs import HeadPlace, head_places, measured, rows_of_edits, written
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import MeanContexts
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.trace import Trace

To = str | MeanContexts


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """log-probabilities (natural) of each token of a target: `before` `(tokens,)`, and `after` `(heads, tokens)` with
    the head of `places` ablated; float32 on the CPU.
    """

    places: tuple[HeadPlace, ...]
    tokens: tuple[Token, ...]
    before: Float[Tensor, " tokens"]
    after: Float[Tensor, "heads tokens"]

    @property
    def per_token(self) -> Float[Tensor, "heads tokens"]:
        """How much likelier each token gets without the head: below 0 where the head helps."""
        return self.after - self.before

    @property
    def mean(self) -> Float[Tensor, " heads"]:
        """The same on average over the tokens, in nats a token."""
        return self.per_token.mean(dim=1)


@dataclass(frozen=True, eq=False)
class ReferenceEffects:
    """Over a set of sentences, the mean of each head's mean effect and its standard deviation, in nats a token."""

    mean: Float[Tensor, " heads"]
    spread: Float[Tensor, " heads"]
    sentences: int

    def in_spreads(self, effects: HeadEffects) -> Float[Tensor, " heads"]:
        """Effects on one sentence in units of the spread: beyond ±2 a head does more here than it usually does.

        NaN for a head whose effect never differs.
        """
        return torch.where(self.spread > 0, (effects.mean - self.mean) / self.spread, torch.nan)


def head_effects(model: Model, trace: Trace, *, to: To = "zero") -> HeadEffects:
    """What the first target of `trace` loses without each single head, on top of what was done to the trace.

    Raises ValueError for a trace without logits, and where nothing comes out of any row (an encoder).
    """
    tokens = trace.sentences[0].tgt_out
    rows = [row for row, token in enumerate(tokens) if token.id >= 0]  # a target that was cut ends in no token
    if not rows or trace.logits is None:
        raise ValueError("Effects are told of the probabilities of a target, and this trace has none.")
    ids = torch.tensor([tokens[row].id for row in rows])

    def measure(logits: Tensor) -> Tensor:
        chosen = logits.gather(2, ids.to(logits.device).expand(len(logits), -1).unsqueeze(2)).squeeze(2)
        return (chosen - logits.logsumexp(dim=2)).cpu()

    places = head_places(model)
    edits = rows_of_edits(
        model, trace, (ablate(kind, layer=layer, heads=[head], to=to) for kind, layer, head in places)
    )
    asked = None if len(rows) == trace.logits.shape[1] else rows
    before = measure(trace.logits[:1, rows].float())[0]
    after = measured(model, trace, edits, measure, rows=asked)
    return HeadEffects(places, tuple(tokens[row] for row in rows), before, after)


def reference_effects(model: Model, traces: Iterable[Trace], *, to: To = "zero") -> ReferenceEffects:
    """The usual size of each head's effect. Raises ValueError for fewer than two sentences."""
    means = [head_effects(model, trace, to=to).mean for trace in traces]
    if len(means) < 2:
        raise ValueError("A spread needs at least two sentences.")
    stacked = torch.stack(means)
    return ReferenceEffects(stacked.mean(dim=0), stacked.std(dim=0), len(means))


def translations_without(model: Model, trace: Trace, *, to: To = "zero") -> dict[HeadPlace, str]:
    """What the model writes, greedily, for the first source of `trace` without each single head."""
    places = head_places(model)
    edits = rows_of_edits(
        model, trace, (ablate(kind, layer=layer, heads=[head], to=to) for kind, layer, head in places)
    )
    return {place: model.spelled(ids)[0] for place, ids in zip(places, written(model, trace, edits), strict=True)}
