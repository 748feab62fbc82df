"""Importance of each head to the targets of a corpus: by its gradient, and by ablation.

By gradient (Michel et al. 2019): a gate stands before each row of each head's context z, and z·∂L/∂z is the derivative
of the loss by that gate. One pass forth and back serves all heads, and it is a first guess: how the loss falls beside
the gate's value 1, not what 0 would do. By ablation every head is really taken out. Both are in nats per target token.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.reading import CorpusBatch, ReadCorpus, log_probabilities, require_targets
from attnviz.analysis.runs import HeadPlace, head_places
from attnviz.causes.numbers.effects import To, head_effects
from attnviz.models.protocol import Model
from attnviz.transformer.probe import Probe, Site

How = Literal["gradient", "ablation"]


@dataclass(frozen=True, eq=False)
class HeadImportance:
    """Importance of each head of `places` in each sentence `(sentences, heads)`, summed over its target's tokens in
    nats: NaN where a sentence was not reached. `tokens` `(sentences,)` are those of each target.

    By gradient it is Σ_rows |Σ_d z·∂L/∂z|, and `signed` is −Σ_rows Σ_d z·∂L/∂z: what the head gives to the target's
    log-probability, to first order. By ablation both are what that loses without the head.
    """

    how: How
    places: tuple[HeadPlace, ...]
    amounts: Tensor
    signed: Tensor
    tokens: Tensor

    @property
    def of_heads(self) -> Tensor:
        """Nats a target token over all sentences that were reached `(heads,)`, float64."""
        return self._a_token(self.amounts)

    @property
    def sentences(self) -> int:
        """Sentences that were reached."""
        return int(self._reached_sentences.sum())

    def per_layer(self) -> Tensor:
        """Return the same, divided by the length of its layer's vector: Michel et al.'s own normalisation."""
        found = self.of_heads
        made = torch.zeros_like(found)
        for site in {place[:2] for place in self.places}:
            here = [nth for nth, place in enumerate(self.places) if place[:2] == site]
            made[here] = found[here] / found[here].norm().clamp(min=torch.finfo(found.dtype).tiny)
        return made

    def table(self) -> pd.DataFrame:
        """Tabulate, a line a head: importance and its signed part in nats a token, the standard error of the latter
        over sentences, and the share of sentences that the head helps.
        """
        signed = self.signed[self._reached_sentences]
        a_token = (signed / self.tokens[self._reached_sentences].unsqueeze(1)).numpy()
        error = a_token.std(axis=0, ddof=1) / np.sqrt(len(a_token)) if len(a_token) > 1 else np.nan
        return pd.DataFrame(self.places, columns=["kind", "layer", "head"]).assign(
            importance=self.of_heads.numpy(), signed=self._a_token(self.signed).numpy(), error=error,
            helped=(a_token > 0).mean(axis=0) if len(a_token) else np.nan,
        )  # fmt: skip

    @property
    def _reached_sentences(self) -> Tensor:
        return ~self.amounts.isnan().any(dim=1)

    def _a_token(self, values: Tensor) -> Tensor:
        reached = self._reached_sentences
        return values[reached].sum(dim=0) / self.tokens[reached].sum()


def gradient_importance(model: Model, corpus: ReadCorpus, *, stop: Cancellable = TO_THE_END) -> HeadImportance:
    """Take the gradient, one pass per batch. Raises ValueError where a sentence has no target."""
    found = _unmeasured_importance("gradient", model, corpus)
    for batch in stop.iterate(corpus.batches(model), corpus.batch_count()):
        _differentiate(model, corpus, batch, found)
    return found


def ablation_importance(
    model: Model, corpus: ReadCorpus, *, to: To = "zero", stop: Cancellable = TO_THE_END
) -> HeadImportance:
    """Ablate each head, all heads of a sentence in a few passes. Raises ValueError where a sentence has no target."""
    found = _unmeasured_importance("ablation", model, corpus)
    for item in stop.iterate(range(len(corpus.sentences)), len(corpus.sentences)):
        effects = head_effects(model, model.rerun(corpus.one_sentence(item)), to=to)
        found.amounts[item] = found.signed[item] = -effects.per_token.double().sum(dim=1)
    return found


def _unmeasured_importance(how: How, model: Model, corpus: ReadCorpus) -> HeadImportance:
    require_targets(corpus)
    places = head_places(model)
    values = torch.full((len(corpus.sentences), len(places)), torch.nan, dtype=torch.double)
    return HeadImportance(how, places, values, values.clone(), corpus.target_tokens)


def _differentiate(model: Model, corpus: ReadCorpus, batch: CorpusBatch, found: HeadImportance) -> None:
    gates = _Gates()
    logits = model.rerun(batch.trace, gates).logits
    assert logits is not None  # there are targets
    with torch.inference_mode(False):
        gain = log_probabilities(corpus, batch, logits).sum()
        sites = list(gates.placed)
        slopes = torch.autograd.grad(gain, [gates.placed[site] for site in sites])
    # L is −log p: these slopes are −z·∂L/∂z
    by_site = {site: slope.cpu().double()[..., 0] for site, slope in zip(sites, slopes, strict=True)}
    for nth, (kind, layer, head) in enumerate(found.places):
        slope = by_site[Site(kind, layer)][:, head]
        found.amounts[list(batch.items), nth] = slope.abs().sum(dim=1)
        found.signed[list(batch.items), nth] = slope.sum(dim=1)


@dataclass
class _Gates(Probe):
    """A gate of 1 before each row of each head's context. Made for one run."""

    needs_gradients = True
    placed: dict[Site, Tensor] = field(default_factory=dict)

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Multiply the context by its gates, which are kept."""
        self.placed[site] = context.new_ones(*context.shape[:3], 1).requires_grad_()
        return context * self.placed[site]
