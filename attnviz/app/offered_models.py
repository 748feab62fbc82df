"""The models that an instance lets its visitors open. All code that opens a model by name checks here first.

If ATTNVIZ_MODELS is set, it lists the models that an instance offers in addition to the shipped ones: folders or hub
ids, separated by commas; the list may be empty. Any other name is refused with one and the same sentence before the
disk is read, so that the refusal reveals nothing about the server's folders.

If the variable is not set, every visitor may open any folder and any hub id. Errors then say exactly what is wrong with
a folder (it does not exist, cannot be read, has no config.json), because the owner of a folder needs to know. An
instance that others can reach should therefore set the variable.

A server with a login may let its teachers open any model (`attnviz.app.hosting`).

The models of an engine (`attnviz.app.cache.engine`) are offered too, since the engine's operator chose them.

Models of this process that `attnviz.open` was given are offered while they are open.

Toys (`toy:…`) are always offered: they come with the package or were trained on this server's Learning page, and their
names are not paths.
"""

import os
from itertools import count
from typing import TYPE_CHECKING

from attnviz.app import hosting
from attnviz.app.cache import engine
from attnviz.models.catalogue import TOY, entries
from attnviz.models.towers import TEXT

if TYPE_CHECKING:
    from attnviz.models.protocol import Model

VARIABLE = "ATTNVIZ_MODELS"
_models: "dict[str, Model]" = {}  # those that `attnviz.open` was given


def is_free() -> bool:
    """Check whether a visitor may open any model, or only those that the instance offers."""
    return VARIABLE not in os.environ or hosting.may_open_any()


def offered_models() -> list[str]:
    """List the models in ATTNVIZ_MODELS; empty if the variable is not set."""
    return [name for part in os.environ.get(VARIABLE, "").split(",") if (name := part.strip())]


def is_offered(name: str) -> bool:
    """Check whether a visitor may open the model with this name. Who may open a model may open its text tower."""
    return (
        is_free()
        or not {name, name.removesuffix(TEXT)}.isdisjoint(offered_models())
        or name.startswith(TOY)
        or any(entry.name == name for entry in entries())
        or engine.has(name)
        or name in names_in_memory()
    )


def require(name: str) -> None:
    """Raise ValueError, with a message of one sentence, for a model that a visitor may not open."""
    if not is_offered(name):
        raise ValueError(f"This server does not offer the model “{name[:80]}”. Please choose one from the list.")


def add_in_memory(model: "Model") -> str:
    """Offer a model in this process's dashboard. Return the name that the dashboard gives it."""
    candidates = (f"{model.name} (in memory{f', {number}' if number else ''})" for number in count())
    name = next(name for name in candidates if name not in _models)
    _models[name] = model
    return name


def remove_in_memory(name: str) -> None:
    """Stop offering a model. Runs that have begun with it finish."""
    _models.pop(name, None)


def names_in_memory() -> tuple[str, ...]:
    """List the names of the models, in the order in which they were opened."""
    return tuple(_models)


def find_in_memory(name: str) -> "Model | None":
    """Return the model with this name, or None."""
    return _models.get(name)
