"""The engine at the address in ATTNVIZ_ENGINE: its models, and the page's note while the engine does not answer.

If the variable is not set, `attnviz.engine` is not imported.
"""

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from attnviz.models.catalogue import entries

if TYPE_CHECKING:
    from attnviz.engine.client import Engine
    from attnviz.engine.remote import RemoteModel
    from attnviz.models.translator.translator import Translator

VARIABLE = "ATTNVIZ_ENGINE"
_GONE = (
    "The engine that runs this server's models does not answer. Until it does, the shipped translator runs on the "
    "server itself."
)


def names() -> tuple[str, ...]:
    """List the engine's models apart from the shipped ones; empty if no engine answers."""
    shipped = {entry.name for entry in entries()}
    return tuple(name for name in _all_names() if name not in shipped)


def has(name: str) -> bool:
    """Whether the engine has this model. Shipped models do not count."""
    return name in names()


def can_run(name: str) -> bool:
    """Whether a model can run now: in this process, or on an engine that answers."""
    found = _engine()
    return found is None or not has(name) or found.is_there


def model(name: str) -> "RemoteModel":
    """Return one of the engine's models. Raises ValueError if the engine cannot describe the model."""
    from attnviz.engine.remote import RemoteModel

    found = _engine()
    assert found is not None  # or it had no models
    return RemoteModel(found, name)


def on_engine(here: "Translator") -> "Translator":
    """Return the translator that computes on the engine, or `here` itself if there is no engine."""
    found = _engine()
    if found is None:
        return here
    from attnviz.engine.engine_translator import EngineTranslator

    return EngineTranslator(here, found)


def engine_note(chosen: str = "") -> str:
    """Return the page's note while the engine does not answer or its address is wrong; "" otherwise.

    `chosen` is the model in the page's address.
    """
    try:
        found = _engine_of(_address())
    except ValueError as error:
        return f"{error} Until this is mended, models run on the server itself."
    if found is None or found.is_there:
        return ""
    return f"{_GONE} The chosen model, {chosen[:80]}, needs the engine." if has(chosen) else _GONE


def has_gone(error: Exception) -> bool:
    """Whether `error` occurred because the engine stopped answering. The page can then be drawn without the engine."""
    found = _engine()
    return found is not None and isinstance(error, ConnectionError) and not found.is_there


def _all_names() -> tuple[str, ...]:
    if (found := _engine()) is None:
        return ()
    from attnviz.engine.client import EngineGoneError

    try:
        return found.models()
    except EngineGoneError:
        return ()


def _engine() -> "Engine | None":
    try:
        return _engine_of(_address())
    except ValueError:  # which `engine_note` says
        return None


def _address() -> tuple[str, str]:
    return os.environ.get(VARIABLE, "").strip(), os.environ.get(f"{VARIABLE}_TOKEN", "")


@lru_cache(maxsize=4)
def _engine_of(address: tuple[str, str]) -> "Engine | None":
    """Return the client of the engine at this address, shared by all visitors; None for an empty address."""
    if not address[0]:
        return None
    from attnviz.engine.client import Engine

    return Engine(*address)
