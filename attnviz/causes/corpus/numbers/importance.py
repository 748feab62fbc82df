"""Importance of each head for the targets of a corpus, by gradient and by ablation, in nats per target token.

By gradient (Michel et al. 2019): every row of each head's context z is multiplied by a gate of 1, and z·∂L/∂z is the
derivative of the loss with respect to the gate. One forward and one backward pass serve all heads. The result is a
first-order estimate near gate value 1, not the loss at gate value 0. By ablation: each head is actually set to zero.
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
    """Importance of each head in each sentence `(sentences, heads)`, summed over the target's tokens, in nats.

    The columns follow `places`. Sentences that were not reached are NaN. `tokens` `(sentences,)` counts the target
    tokens. By gradient, `amounts` is Σ_rows |Σ_d z·∂L/∂z|, and `signed` is −Σ_rows Σ_d z·∂L/∂z, the head's first-order
    contribution to the target's log-probability. By ablation, both are how much log-probability is lost without the
    head.
    """

    how: How
    places: tuple[HeadPlace, ...]
    amounts: Tensor
    signed: Tensor
    tokens: Tensor

    @property
    def of_heads(self) -> Tensor:
        """Importance of each head `(heads,)` in nats per target token, over all reached sentences, float64."""
        return self._a_token(self.amounts)

    @property
    def sentences(self) -> int:
        """Number of sentences that were reached."""
        return int(self._reached_sentences.sum())

    def table(self) -> pd.DataFrame:
        """Return a table with one row per head: importance, signed importance, standard error, and share helped.

        Importances are in nats per token. `error` is the standard error of the signed importance over sentences.
        `helped` is the share of sentences whose target the head makes more likely.
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
    """Measure the importance of all heads by gradient, one pass per batch.

    Raise ValueError if a sentence has no target.
    """
    found = _unmeasured_importance("gradient", model, corpus)
    for batch in stop.iterate(corpus.batches(model), corpus.batch_count()):
        _differentiate(model, corpus, batch, found)
    return found


def ablation_importance(
    model: Model, corpus: ReadCorpus, *, to: To = "zero", stop: Cancellable = TO_THE_END
) -> HeadImportance:
    """Measure importance by ablating each head in every sentence. Raise ValueError if a sentence has no target."""
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
    assert logits is not None  # `require_targets` has passed
    with torch.inference_mode(False):
        gain = log_probabilities(corpus, batch, logits).sum()
        sites = list(gates.placed)
        slopes = torch.autograd.grad(gain, [gates.placed[site] for site in sites])
    # L is −log p, so these gradients are −z·∂L/∂z
    by_site = {site: slope.cpu().double()[..., 0] for site, slope in zip(sites, slopes, strict=True)}
    for nth, (kind, layer, head) in enumerate(found.places):
        slope = by_site[Site(kind, layer)][:, head]
        found.amounts[list(batch.items), nth] = slope.abs().sum(dim=1)
        found.signed[list(batch.items), nth] = slope.sum(dim=1)


@dataclass
class _Gates(Probe):
    """Probe that multiplies each row of each head's context by a gate of 1. Use each object for one run only."""

    needs_gradients = True
    placed: dict[Site, Tensor] = field(default_factory=dict)

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Multiply the heads' contexts by gates of 1 that require gradients; keep the gates, by site, in `placed`."""
        self.placed[site] = context.new_ones(*context.shape[:3], 1).requires_grad_()
        return context * self.placed[site]
