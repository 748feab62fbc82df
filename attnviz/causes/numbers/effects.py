"""Effect of each single head on a sentence: the change in the target's probability, and the text that the model writes.

Each head is ablated in a run of its own; runs are batched into a few passes. All runs read the same target, so that
their tokens are comparable. A single head is rarely decisive, and a claim from one sentence often fails on many (Michel
et al. 2019), so compare an effect with its spread over a reference set.

`python -m attnviz.causes.numbers` measures the usual effect of each head: the mean and the spread of the effect when
the head is switched off. It writes them, by language, to a file beside the shipped weights. The file names those
weights.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.runs import HeadPlace, Tell, head_places, measure_runs, rows_of_edits, untold, write_runs
from attnviz.causes.numbers.chances import Asking, compared_tokens
from attnviz.models import catalogue
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import Intervention, MeanContexts
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

NAME = "head-effects.json"
_DIGITS = 6
To = str | MeanContexts


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """Natural log-probabilities of each target token, with and without each head.

    `before` is `(tokens,)`, and `after` is `(heads, tokens)` with the head of `places` ablated; float32 on the CPU.
    `what` says which tokens they are. For a classifier of images the only token is the label that it chooses.
    """

    places: tuple[HeadPlace, ...]
    tokens: tuple[Token, ...]
    before: Float[Tensor, " tokens"]
    after: Float[Tensor, "heads tokens"]
    what: Asking = "target"

    @property
    def per_token(self) -> Float[Tensor, "heads tokens"]:
        """Change of each token's log-probability without the head; negative if the head helps."""
        return self.after - self.before

    @property
    def mean(self) -> Float[Tensor, " heads"]:
        """Mean of `per_token` over the tokens, in nats per token."""
        return self.per_token.mean(dim=1)

    @property
    def per_head(self) -> Float[Tensor, " heads"]:
        """The effect that the picture Switches shows for each head: `mean`."""
        return self.mean


@dataclass(frozen=True, eq=False)
class ReferenceEffects:
    """Mean and standard deviation of each head's mean effect over a set of sentences, in nats per token."""

    mean: Float[Tensor, " heads"]
    spread: Float[Tensor, " heads"]
    sentences: int

    def in_spreads(self, effects: HeadEffects) -> Float[Tensor, " heads"]:
        """Express the effects on one sentence in standard deviations from the mean effect.

        Beyond ±2 a head does more in this sentence than it usually does. NaN for a head whose effect never varies.
        """
        return torch.where(self.spread > 0, (effects.mean - self.mean) / self.spread, torch.nan)


def head_effects(model: Model, trace: Trace, *, to: To = "zero", tell: Tell = untold) -> HeadEffects:
    """Measure how much log-probability the first target of `trace` loses without each single head.

    The trace's own interventions stay on. `chances.compared_tokens` chooses the tokens, including an encoder's masked
    positions. With `to` "diagonal", cross-attention heads are set to zero instead. `tell(done, total)` is called with
    the number of heads done. Raise ValueError if the trace has no logits, or if no token can be compared.
    """
    asked = compared_tokens(model, trace)
    assert trace.logits is not None  # `compared_tokens` has checked
    edits = rows_of_edits(model, trace, ablations(model, to))
    every = len(asked.rows) == trace.logits.shape[1]
    before = asked.log_probabilities(trace.logits[0, list(asked.rows)].float())
    rows = None if every else asked.rows
    after = measure_runs(model, trace, edits, asked.log_probabilities, rows=rows, tell=tell)
    return HeadEffects(head_places(model), asked.tokens, before, after, asked.what)


def ablations(model: Model, to: To) -> list[Intervention]:
    """Return an ablation of each single head, in the order of `runs.head_places`."""
    return [
        ablate(kind, layer=layer, heads=[head], to=_replacement(to, kind)) for kind, layer, head in head_places(model)
    ]


def _replacement(to: To, kind: Kind) -> To:
    """Return `to`, or "zero" if `to` is "diagonal" and the kind is cross-attention, which has no diagonal."""
    return "zero" if to == "diagonal" and kind == "cross" else to


def reference_effects(model: Model, traces: Iterable[Trace], *, to: To = "zero") -> ReferenceEffects:
    """Measure the usual effect of each head over several traces. Raise ValueError for fewer than two sentences."""
    means = [head_effects(model, trace, to=to).mean for trace in traces]
    if len(means) < 2:
        raise ValueError("A spread needs at least two sentences.")
    stacked = torch.stack(means)
    return ReferenceEffects(stacked.mean(dim=0), stacked.std(dim=0), len(means))


def translations_without(model: Model, trace: Trace, *, to: To = "zero") -> dict[HeadPlace, str]:
    """Return, for each head, the text that greedy decoding writes for the first source with this head ablated."""
    places, edits = head_places(model), rows_of_edits(model, trace, ablations(model, to))
    return {place: model.decode_ids(ids)[0] for place, ids in zip(places, write_runs(model, trace, edits), strict=True)}


def usual_effects(model: Model, to: str) -> ReferenceEffects | None:
    """Read the stored effects for this model's weights and this language; None if there are none."""
    for path in sorted(catalogue.SHIPPED.glob(f"*/{NAME}")):
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["weights"] == model.model_id and to in said["languages"]:
            return _read(said["languages"][to], len(head_places(model)))
    return None


def _read(said: dict[str, Any], count: int) -> ReferenceEffects | None:
    mean, spread = (torch.tensor(said[name], dtype=torch.float32) for name in ("mean", "spread"))
    return ReferenceEffects(mean, spread, said["sentences"]) if len(mean) == len(spread) == count else None


def measured_usual(model: Model, texts: Iterable[str], to: str) -> ReferenceEffects:
    """Measure the usual effects over sentences, each with the translation that the model itself writes."""
    return reference_effects(model, (model.trace(text, to=to) for text in texts))


def write(path: Path, weights: str, found: dict[str, ReferenceEffects]) -> None:
    """Write the effects to a file, with heads in the order of `runs.head_places` and values in nats per token."""
    languages = {to: _to_json(effects) for to, effects in sorted(found.items())}
    path.write_text(json.dumps({"weights": weights, "languages": languages}, indent=None) + "\n", encoding="utf-8")


def _to_json(effects: ReferenceEffects) -> dict[str, Any]:
    numbers = {
        name: [round(value, _DIGITS) for value in getattr(effects, name).tolist()] for name in ("mean", "spread")
    }
    return {"sentences": effects.sentences, **numbers}
