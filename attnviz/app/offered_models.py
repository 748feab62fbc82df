"""The models that an instance lets its visitors open. All code that opens a model by name asks here first.

ATTNVIZ_MODELS, where it is set, lists what an instance offers besides the shipped models (folders or hub ids, with
commas between them; it may be empty). A name that is not in the list is refused by the same sentence whether such a
folder exists or not, and before anything is looked for: it gives away nothing about the server's disk.

Where it is unset, every visitor may open any folder and any hub id. Then the sentences say exactly what is wrong with a
folder (it is not there, it may not be read, it has no config.json), because the owner of a folder needs to know. An
instance that others reach should therefore set it.

A server with a login may let its teachers open any (`attnviz.app.hosting`).

The models of an engine (`attnviz.app.cache.engine`) are offered, too: the operator of the engine chose them.

Toys (`toy:…`) are always offered: they come with the package or were trained on this server's own Learning page, and
their names are no paths on the disk.
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
    """List the models besides the shipped ones that the instance names; none where it leaves the choice free."""
    return [name for part in os.environ.get(VARIABLE, "").split(",") if (name := part.strip())]


def is_offered(name: str) -> bool:
    """Check whether a visitor may open the model of that name."""
    return (
        is_free()
        or name in offered_models()
        or name.startswith(TOY)
        or any(entry.name == name for entry in entries())
        or engine.has(name)
        or name in in_memory.names()
    )


def require(name: str) -> None:
    """Raise ValueError, with one sentence, for a model that a visitor may not open."""
    if not is_offered(name):
        raise ValueError(f"This server does not offer the model “{name[:80]}”: choose one from the list.")
