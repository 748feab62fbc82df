"""Read and change which heads interventions switch off: one switch for each head."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.making import ablate
from attnviz.transformer.probe import Kind


class Head(NamedTuple):
    """One head of a model; layer and head count from 0."""

    kind: Kind
    layer: int
    head: int


Shapes = Mapping[Kind, tuple[int, int]]


def heads_off(interventions: Sequence[Intervention], shapes: Shapes) -> frozenset[Head]:
    """Return the heads whose context is zero at every position; `shapes` are the model's layers and heads of
    each kind.
    """
    return frozenset(head for each in interventions for head in _heads_switched_off(each, shapes))


def switch_heads_off(
    interventions: Sequence[Intervention], shapes: Shapes, heads: Iterable[Head]
) -> tuple[Intervention, ...]:
    """Switch these heads off and no others; all other interventions stay."""
    wanted = set(heads)
    others = (each for each in interventions if not _heads_switched_off(each, shapes))
    return (*(one for kind in shapes for one in _ablations(kind, shapes[kind], wanted)), *others)


def toggle_head(interventions: Sequence[Intervention], shapes: Shapes, head: Head) -> tuple[Intervention, ...]:
    """Switch one head off, or on again."""
    return switch_heads_off(interventions, shapes, heads_off(interventions, shapes) ^ {head})


def _heads_switched_off(each: Intervention, shapes: Shapes) -> list[Head]:
    """List the heads that an intervention switches off at every position; none where it does something else."""
    if (each.what, each.how, each.positions) != ("context", "zero", None) or each.where not in shapes:
        return []
    kind: Kind = each.where  # type: ignore[assignment]  # a key of shapes
    n_layers, n_heads = shapes[kind]
    layers = range(n_layers) if each.layer is None else (each.layer,)
    found = [Head(kind, layer, head) for layer in layers for head in each.heads or range(n_heads)]
    return found if all(head.layer < n_layers and head.head < n_heads for head in found) else []


def _ablations(kind: Kind, shape: tuple[int, int], wanted: set[Head]) -> list[Intervention]:
    """Make as few interventions as possible: one for a kind, one for a layer, or one for some heads of a layer."""
    n_layers, n_heads = shape
    by_layer = [[head for head in range(n_heads) if (kind, layer, head) in wanted] for layer in range(n_layers)]
    if all(len(heads) == n_heads for heads in by_layer):
        return [ablate(kind)]
    return [
        ablate(kind, layer=layer, heads=None if len(heads) == n_heads else heads)
        for layer, heads in enumerate(by_layer)
        if heads
    ]
