"""How pictures ask for what is expensive to make; pages pass their cache (`attnviz.ui.cache.pictures.get_or_make`)."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Made = TypeVar("Made")


class Cache(Protocol):
    """Return `make()`, or what it returned before for the same picture and key."""

    def __call__(self, picture: str, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
        """Look up `key`, which holds the trace and all else that `make` reads."""
        ...


def make_anew(picture: str, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """Make it each time: the cache of a notebook."""
    return make()
