"""Interventions that somebody asks of a model or a sentence which may not have their heads or words: the rest holds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from attnviz.tracing.causes.in_force import InForce, Shapes
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.record import Sentence


class Fitting(NamedTuple):
    """Those that can be in force, those that cannot, and of each of these a sentence why."""

    kept: tuple[Intervention, ...]
    dropped: tuple[Intervention, ...] = ()
    notes: tuple[str, ...] = ()


def fitting(
    interventions: Sequence[Intervention], shapes: Shapes, model_id: str, sentence: Sentence | None = None
) -> Fitting:
    """Which of the interventions a model can carry out: on a sentence, or on any where none is given.

    A target that the model is to write itself is empty in `sentence`.
    """
    why = {number: _refusal(each, shapes, model_id, sentence) for number, each in enumerate(interventions)}
    kept = tuple(each for number, each in enumerate(interventions) if not why[number])
    dropped = tuple(each for number, each in enumerate(interventions) if why[number])
    return Fitting(kept, dropped, tuple(reason for reason in why.values() if reason))


def unwritten(sentence: Sentence) -> Sentence:
    """The sentence before the model has written its target."""
    return replace(sentence, tgt=(), tgt_text="")


def _refusal(each: Intervention, shapes: Shapes, model_id: str, sentence: Sentence | None) -> str:
    try:
        in_force = InForce.of([each], shapes, model_id)
        if sentence is not None:
            in_force.bound([sentence])
    except ValueError as why:
        return f"“{each}” is left out: {why}"
    return ""
