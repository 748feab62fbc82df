"""Models in memory for which a Python session has opened the dashboard with `attnviz.open`, by name."""

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz.models.protocol import Model

_models: "dict[str, Model]" = {}


def add(model: "Model") -> str:
    """Offer a model in this process's dashboard. Return the name that the dashboard gives it."""
    candidates = (f"{model.name} (in memory{f', {number}' if number else ''})" for number in count())
    name = next(name for name in candidates if name not in _models)
    _models[name] = model
    return name


def remove(name: str) -> None:
    """Stop offering a model. Runs that have begun with it finish."""
    _models.pop(name, None)


def names() -> tuple[str, ...]:
    """List the names of the models, in the order in which they were opened."""
    return tuple(_models)


def find(name: str) -> "Model | None":
    """Return the model with this name, or None."""
    return _models.get(name)
