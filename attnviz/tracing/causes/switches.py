"""Read and change which whole heads the interventions ablate: each head has one switch."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.making import Put, ablate
from attnviz.transformer.probe import Kind

_PUTS: dict[tuple[str, str], Put] = {
    ("context", "zero"): "zero", ("context", "mean"): "mean", ("attn", "uniform"): "uniform",
    ("attn", "diagonal"): "diagonal",
}  # fmt: skip


class Head(NamedTuple):
    """One head of a model: its kind of attention, its layer and its number, both counted from 0."""

    kind: Kind
    layer: int
    head: int


Shapes = Mapping[Kind, tuple[int, int]]


def heads_off(interventions: Sequence[Intervention], shapes: Shapes) -> frozenset[Head]:
    """Return the heads whose context is set to zero at every position.

    `shapes` are the model's numbers of layers and heads of each kind.
    """
    return frozenset(head for each in interventions for head in _heads_switched_off(each, shapes))


def switch_heads_off(
    interventions: Sequence[Intervention], shapes: Shapes, heads: Iterable[Head]
) -> tuple[Intervention, ...]:
    """Return interventions that switch off exactly these heads; interventions of other types are kept."""
    wanted: dict[Head, Put] = dict.fromkeys(heads, "zero")
    others = (each for each in interventions if not _heads_switched_off(each, shapes))
    return (*(one for kind in shapes for one in _ablations(kind, shapes[kind], "zero", wanted)), *others)


def _heads_switched_off(each: Intervention, shapes: Shapes) -> list[Head]:
    """Return the heads that an intervention switches off at every position, or none if it does something else."""
    return [head for head, put in _replacements_by(each, shapes) if put == "zero"]


def replacements(interventions: Sequence[Intervention], shapes: Shapes) -> dict[Head, Put]:
    """Return the heads that are replaced at every position, and what replaces them.

    `shapes` are the model's numbers of layers and heads of each kind.
    """
    return {head: put for each in interventions for head, put in _replacements_by(each, shapes)}


def replace_heads(
    interventions: Sequence[Intervention], shapes: Shapes, wanted: Mapping[Head, Put]
) -> tuple[Intervention, ...]:
    """Return interventions that replace exactly these heads; interventions of other types are kept.

    In cross-attention, which has no diagonal, "diagonal" is replaced by zero.
    """
    others = tuple(each for each in interventions if not _replacements_by(each, shapes))
    made = [one for put in _PUTS.values() for kind in shapes for one in _ablations(kind, shapes[kind], put, wanted)]
    return (*made, *others)


def every_head(shapes: Shapes) -> list[Head]:
    """Return all heads of a model, kind by kind."""
    return [
        Head(kind, layer, head)
        for kind, (layers, heads) in shapes.items()
        for layer in range(layers)
        for head in range(heads)
    ]


def without_replacements(interventions: Sequence[Intervention], shapes: Shapes) -> tuple[Intervention, ...]:
    """Return the interventions that do not replace whole heads at every position."""
    return tuple(each for each in interventions if not _replacements_by(each, shapes))


def _replacements_by(each: Intervention, shapes: Shapes) -> list[tuple[Head, Put]]:
    put = _PUTS.get((each.what, each.how))
    if put is None or each.positions is not None or each.where not in shapes:
        return []
    kind: Kind = each.where  # type: ignore[assignment]  # a key of shapes
    n_layers, n_heads = shapes[kind]
    layers = range(n_layers) if each.layer is None else (each.layer,)
    found = [Head(kind, layer, head) for layer in layers for head in each.heads or range(n_heads)]
    return [(head, put) for head in found] if all(at.layer < n_layers and at.head < n_heads for at in found) else []


def _ablations(kind: Kind, shape: tuple[int, int], put: Put, wanted: Mapping[Head, Put]) -> list[Intervention]:
    """Make as few interventions as possible: one for a kind, one for each layer, or one for some heads of a layer."""
    n_layers, n_heads = shape
    by_layer = [
        [head for head in range(n_heads) if _fit_put(kind, wanted.get(Head(kind, layer, head))) == put]
        for layer in range(n_layers)
    ]
    if all(len(heads) == n_heads for heads in by_layer):
        return [ablate(kind, to=put)]
    return [
        ablate(kind, layer=layer, heads=None if len(heads) == n_heads else heads, to=put)
        for layer, heads in enumerate(by_layer)
        if heads
    ]


def _fit_put(kind: Kind, put: Put | None) -> Put | None:
    return "zero" if put == "diagonal" and kind == "cross" else put
