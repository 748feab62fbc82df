"""Measure how far interventions move the vector with which a vision model without a classifier represents an image.

The vector is the last hidden state of [CLS] or, where a model has no [CLS], the pooled vector that it returns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.runs import HeadPlace, Tell, copies_at_once, head_places, rows_of_edits, run_in_batches, untold
from attnviz.causes.numbers.effects import HeadEffects, To, ablations, head_effects
from attnviz.models.protocol import Model
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.trace import Trace


@runtime_checkable
class SummarizesImages(Protocol):
    """A model that returns one vector for a whole image."""

    @property
    def summary(self) -> str:
        """The name of the vector: "[CLS]" or "pooled"."""
        ...

    def summaries_under(self, trace: Trace, edits: Edits) -> Tensor:
        """Run copies of the image of `trace`, each with its own interventions; return each one's vector of the whole
        image.

        The shape is `(copies, d_model)`, and `edits.rows` has the interventions of each copy. Raises ValueError for a
        model that returns no such vector.
        """
        ...


@dataclass(frozen=True, eq=False)
class SummaryChange:
    """The vector of the whole image without and with interventions, each `(d_model,)`, float32 on the CPU."""

    name: str
    before: Float[Tensor, " d_model"]
    after: Float[Tensor, " d_model"]

    @property
    def cosine(self) -> float:
        """The cosine of the angle between the image's vector before and after the change."""
        return float(torch.cosine_similarity(self.before.double(), self.after.double(), dim=0))

    @property
    def share(self) -> float:
        """The length of the difference between both vectors, as a share of the length of the unchanged one."""
        return float((self.after - self.before).double().norm() / self.before.double().norm())


@dataclass(frozen=True, eq=False)
class SummaryEffects:
    """The vector of the whole image with and without each head.

    `before` is `(d_model,)`. `after` is `(heads, d_model)`: row i is the vector with the head `places[i]` ablated. Both
    are float32 on the CPU.
    """

    places: tuple[HeadPlace, ...]
    name: str
    before: Float[Tensor, " d_model"]
    after: Float[Tensor, "heads d_model"]

    @property
    def per_head(self) -> Float[Tensor, " heads"]:
        """How far the vector moves without each head, as a share of its length."""
        return (self.after - self.before).norm(dim=1) / self.before.norm()

    def change(self, at: int) -> SummaryChange:
        """Return the change of the vector without the head number `at` of `places`."""
        return SummaryChange(self.name, self.before, self.after[at])


def summary_change(model: Model, plain: Trace, interventions: Sequence[Intervention]) -> SummaryChange | None:
    """Run the image of `plain` with interventions, and return what becomes of the vector of the whole image.

    Return None for a model that returns no such vector.
    """
    if not isinstance(model, SummarizesImages):
        return None
    checked = CheckedInterventions.check(interventions, model.shapes, model.model_id)
    changed = checked.resolve(plain.sentences[:1]).edits
    try:
        found = model.summaries_under(plain, Edits(((), () if changed is None else changed.rows[0])))
    except ValueError:
        return None
    before, after = found.float().cpu()
    return SummaryChange(model.summary, before, after)


@torch.inference_mode()
def summary_effects(model: Model, trace: Trace, *, to: To = "zero", tell: Tell = untold) -> SummaryEffects:
    """Measure how far the vector of the whole image moves without each single head.

    `to` and `tell` are those of `head_effects`. Raise ValueError for a model that returns no such vector.
    """
    if not isinstance(model, SummarizesImages):
        raise ValueError(f"{model.name} returns no vector of a whole image.")
    summarizing: SummarizesImages = model
    edits = Edits((*rows_of_edits(model, trace, ablations(model, to)).rows, _rows_of(model, trace)))

    def run(part: Edits) -> Tensor:
        return summarizing.summaries_under(trace, part).float().cpu()

    found = run_in_batches(run, edits, copies_at_once(trace), tell)
    return SummaryEffects(head_places(model), summarizing.summary, found[-1], found[:-1])


def _rows_of(model: Model, trace: Trace) -> tuple:
    """Return the interventions that the trace was made with, as edits for one batch row."""
    resolved = CheckedInterventions.check(trace.interventions, model.shapes, model.model_id).resolve(trace.sentences)
    return () if resolved.edits is None else resolved.edits.rows[0]


def effects_of_heads(
    model: Model, trace: Trace, *, to: To = "zero", tell: Tell = untold
) -> HeadEffects | SummaryEffects | None:
    """Measure the effect of each head on what the model outputs: tokens, a label, or the vector of a whole image.

    Return None for a model that outputs none of them. Raise ValueError if there is nothing to compare.
    """
    if trace.logits is not None:
        return head_effects(model, trace, to=to, tell=tell)
    return summary_effects(model, trace, to=to, tell=tell) if isinstance(model, SummarizesImages) else None
