"""Models that a session of Python has opened the dashboard on (`attnviz.open`): they are in memory, under a name."""

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz.models.protocol import Model

_models: "dict[str, Model]" = {}


def add(model: "Model") -> str:
    """Offer a model to this process's dashboard; return the name that it has there."""
    candidates = (f"{model.name} (in memory{f', {number}' if number else ''})" for number in count())
    name = next(name for name in candidates if name not in _models)
    _models[name] = model
    return name


def remove(name: str) -> None:
    """Offer a model no longer; one that is running finishes."""
    _models.pop(name, None)


def names() -> tuple[str, ...]:
    """List the names of the models, in the order in which they were opened."""
    return tuple(_models)


def find(name: str) -> "Model | None":
    """Return the model of that name; None where there is none."""
    return _models.get(name)
