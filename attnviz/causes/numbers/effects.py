"""The effect of each single head on a sentence: how much less likely the target gets without the head, and the text
that the model then writes.

Every head is ablated in a run of its own, and a few passes hold all runs. Each run reads the same target, so that its
tokens stay comparable. One head is rarely decisive, and many sentences can refute what one suggests (Michel et al.
2019): read an effect beside its spread over a reference set.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.runs import HeadPlace, Tell, head_places, measure_runs, rows_of_edits, untold, write_runs
from attnviz.causes.numbers.chances import compared_tokens
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import MeanContexts
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

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
        """Express effects on one sentence in units of the spread: beyond ±2 a head does more here than it usually does.

        NaN for a head whose effect never differs.
        """
        return torch.where(self.spread > 0, (effects.mean - self.mean) / self.spread, torch.nan)


def head_effects(model: Model, trace: Trace, *, to: To = "zero", tell: Tell = untold) -> HeadEffects:
    """Measure what the first target of `trace` loses without each single head, on top of the trace's interventions.

    `chances.compared_tokens` chooses the tokens, an encoder's masked places included. With `to` "diagonal",
    cross-attention's heads become zero. `tell(done, total)` hears of the heads that are done. Raises ValueError for a
    trace without logits, and where no token can be compared.
    """
    asked = compared_tokens(model, trace)
    assert trace.logits is not None  # it was asked of
    places = head_places(model)
    edits = rows_of_edits(
        model,
        trace,
        (ablate(kind, layer=layer, heads=[head], to=_replacement(to, kind)) for kind, layer, head in places),
    )
    every = len(asked.rows) == trace.logits.shape[1]
    before = asked.log_probabilities(trace.logits[0, list(asked.rows)].float())
    rows = None if every else asked.rows
    after = measure_runs(model, trace, edits, asked.log_probabilities, rows=rows, tell=tell)
    return HeadEffects(places, asked.tokens, before, after)


def _replacement(to: To, kind: Kind) -> To:
    """Return zero for cross-attention, which has no diagonal."""
    return "zero" if to == "diagonal" and kind == "cross" else to


def reference_effects(model: Model, traces: Iterable[Trace], *, to: To = "zero") -> ReferenceEffects:
    """Measure the usual size of each head's effect. Raises ValueError for fewer than two sentences."""
    means = [head_effects(model, trace, to=to).mean for trace in traces]
    if len(means) < 2:
        raise ValueError("A spread needs at least two sentences.")
    stacked = torch.stack(means)
    return ReferenceEffects(stacked.mean(dim=0), stacked.std(dim=0), len(means))


def translations_without(model: Model, trace: Trace, *, to: To = "zero") -> dict[HeadPlace, str]:
    """Write greedily for the first source of `trace` without each single head."""
    places = head_places(model)
    edits = rows_of_edits(
        model,
        trace,
        (ablate(kind, layer=layer, heads=[head], to=_replacement(to, kind)) for kind, layer, head in places),
    )
    return {place: model.decode_ids(ids)[0] for place, ids in zip(places, write_runs(model, trace, edits), strict=True)}
