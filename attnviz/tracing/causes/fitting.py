"""Separate the interventions that fit a model or a sentence from those that name missing heads or words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions, Shapes
from attnviz.tracing.record import Sentence


class Fitting(NamedTuple):
    """Interventions that can be applied, those that cannot, and a reason for each of the latter."""

    kept: tuple[Intervention, ...]
    dropped: tuple[Intervention, ...] = ()
    notes: tuple[str, ...] = ()


def split_by_fit(
    interventions: Sequence[Intervention], shapes: Shapes, model_id: str, sentence: Sentence | None = None
) -> Fitting:
    """Split interventions into those that a model can apply to a sentence and those that it cannot.

    Without a sentence, only the model is checked. A target that the model is to write is empty in `sentence`.
    """
    why = {number: _refusal(each, shapes, model_id, sentence) for number, each in enumerate(interventions)}
    kept = tuple(each for number, each in enumerate(interventions) if not why[number])
    dropped = tuple(each for number, each in enumerate(interventions) if why[number])
    return Fitting(kept, dropped, tuple(reason for reason in why.values() if reason))


def drop_target(sentence: Sentence) -> Sentence:
    """Return the sentence without its target, as before decoding."""
    return replace(sentence, tgt=(), tgt_text="")


def _refusal(each: Intervention, shapes: Shapes, model_id: str, sentence: Sentence | None) -> str:
    try:
        changes = CheckedInterventions.check([each], shapes, model_id)
        if sentence is not None:
            changes.resolve([sentence])
    except ValueError as why:
        return f"“{each}” is left out: {why}"
    return ""
