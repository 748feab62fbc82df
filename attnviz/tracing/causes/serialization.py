"""Store interventions with a trace: their fields as JSON, their values as arrays `intervention.<n>.<layer>`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import KINDS, OF_STACK, WHATS, How, Intervention
from attnviz.tracing.trace_like import validate_choice

NAME = "intervention"


def descriptions(interventions: Sequence[Intervention]) -> list[dict[str, Any]]:
    """Return the interventions' fields except their values as plain JSON types; a token becomes a dictionary."""
    return [
        {each.name: getattr(one, each.name) for each in fields(one) if each.name not in ("values", "tokens")}
        | {"tokens": [vars(token) for token in one.tokens]}
        for one in interventions
    ]


def arrays(interventions: Sequence[Intervention]) -> dict[str, Tensor]:
    """Return the interventions' values by the names under which they are stored."""
    return {
        f"{NAME}.{number}.{layer}": put for number, one in enumerate(interventions) for layer, put in one.values.items()
    }


def read(said: Sequence[Mapping[str, Any]], tensors: Mapping[str, Tensor]) -> tuple[Intervention, ...]:
    """Read interventions from the results of `descriptions` and `arrays`.

    Raises TypeError or ValueError for anything else.
    """
    values: dict[int, dict[int, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(f"{NAME}."):
            _, number, layer = name.split(".")
            values.setdefault(int(number), {})[int(layer)] = tensor
    return tuple(_read_one(fields_, values.get(number, {})) for number, fields_ in enumerate(said))


def _read_one(said: Mapping[str, Any], values: dict[int, Tensor]) -> Intervention:
    for name, allowed in (("where", (*KINDS, "encoder", "decoder")), ("what", WHATS), ("how", get_args(How))):
        validate_choice(said[name], name, allowed)
    lists = {name: said[name] or () for name in ("heads", "positions", "columns")}
    numbers = [*lists["heads"], *(() if said["layer"] is None else (said["layer"],))]
    places = [*lists["positions"], *lists["columns"]]
    if any(type(number) is not int for number in numbers) or any(type(place) not in (int, str) for place in places):
        raise ValueError("an intervention in it names layers, heads or positions that do not exist")
    needs = said["how"] in ("values", "mean")
    if needs != bool(values) or any(not _fits(put, said["what"]) for put in values.values()):
        raise ValueError("an intervention in it has numbers that do not fit what it says")
    tuples = {name: None if said[name] is None else tuple(said[name]) for name in lists}
    tokens = tuple(Token(**token) for token in said["tokens"])
    return Intervention(**(dict(said) | tuples | {"tokens": tokens, "values": values}))  # type: ignore[arg-type]


def _fits(put: Tensor, what: str) -> bool:
    """Check whether values have as many axes as the quantity that they replace."""
    return put.dim() == (2 if what in OF_STACK else 3) and put.is_floating_point()
