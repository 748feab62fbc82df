"""The models that an instance lets its visitors open. All code that opens a model by name checks here first.

If ATTNVIZ_MODELS is set, it lists the models that an instance offers in addition to the shipped ones: folders or hub
ids, separated by commas; the list may be empty. Any other name is refused with one and the same sentence before the
disk is read, so that the refusal reveals nothing about the server's folders.

If the variable is not set, every visitor may open any folder and any hub id. Errors then say exactly what is wrong with
a folder (it does not exist, cannot be read, has no config.json), because the owner of a folder needs to know. An
instance that others can reach should therefore set the variable.

A server with a login may let its teachers open any model (`attnviz.app.hosting`).

The models of an engine (`attnviz.app.cache.engine`) are offered too, since the engine's operator chose them.

Toys (`toy:…`) are always offered: they come with the package or were trained on this server's Learning page, and their
names are not paths.
"""

import os

from attnviz.app import hosting
from attnviz.app.cache import engine, in_memory
from attnviz.models.catalogue import TOY, entries

VARIABLE = "ATTNVIZ_MODELS"


def is_free() -> bool:
    """Check whether a visitor may open any model, or only those that the instance offers."""
    return VARIABLE not in os.environ or hosting.may_open_any()


def offered_models() -> list[str]:
    """List the models in ATTNVIZ_MODELS; empty if the variable is not set."""
    return [name for part in os.environ.get(VARIABLE, "").split(",") if (name := part.strip())]


def is_offered(name: str) -> bool:
    """Check whether a visitor may open the model with this name."""
    return (
        is_free()
        or name in offered_models()
        or name.startswith(TOY)
        or any(entry.name == name for entry in entries())
        or engine.has(name)
        or name in in_memory.names()
    )


def require(name: str) -> None:
    """Raise ValueError, with a message of one sentence, for a model that a visitor may not open."""
    if not is_offered(name):
        raise ValueError(f"This server does not offer the model “{name[:80]}”. Please choose one from the list.")
