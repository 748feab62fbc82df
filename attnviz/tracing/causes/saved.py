"""Interventions beside a saved trace: what they are as JSON, and their numbers as arrays `intervention.<n>.<layer>`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import Intervention

NAME = "intervention"


def described(interventions: Sequence[Intervention]) -> list[dict[str, Any]]:
    """All but their numbers, as plain JSON types; tokens by their fields."""
    return [
        {each.name: getattr(one, each.name) for each in fields(one) if each.name not in ("values", "tokens")}
        | {"tokens": [vars(token) for token in one.tokens]}
        for one in interventions
    ]


def arrays(interventions: Sequence[Intervention]) -> dict[str, Tensor]:
    """Their numbers, by name."""
    return {
        f"{NAME}.{number}.{layer}": put for number, one in enumerate(interventions) for layer, put in one.values.items()
    }


def read(said: Sequence[Mapping[str, Any]], tensors: Mapping[str, Tensor]) -> tuple[Intervention, ...]:
    """What `described` and `arrays` wrote. Raises TypeError or ValueError for anything else."""
    values: dict[int, dict[int, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(f"{NAME}."):
            _, number, layer = name.split(".")
            values.setdefault(int(number), {})[int(layer)] = tensor
    return tuple(_one(fields_, values.get(number, {})) for number, fields_ in enumerate(said))


def _one(said: Mapping[str, Any], values: dict[int, Tensor]) -> Intervention:
    tuples = {name: None if said[name] is None else tuple(said[name]) for name in ("heads", "positions", "columns")}
    tokens = tuple(Token(**token) for token in said["tokens"])
    return Intervention(**(dict(said) | tuples | {"tokens": tokens, "values": values}))  # type: ignore[arg-type]
