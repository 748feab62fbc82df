"""Services that a host offers to its pictures: a cache and, on a page, controls and long-running work."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from attnviz.analysis.cancellable import TO_THE_END, Cancellable

if TYPE_CHECKING:
    from collections.abc import Mapping

Made = TypeVar("Made")


class Cache(Protocol):
    """Function that returns `make()`, or its earlier result for the same picture and key."""

    def __call__(self, picture: str, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
        """Look up `key`, which must contain the trace and everything else that `make` reads."""
        ...


def make_anew(picture: str, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """Return `make()` without caching; the cache of a notebook."""
    return make()


def run_to_the_end(key: str, asked: object, doing: str, make: Callable[[Cancellable], Made]) -> Made | None:
    """Do long work at once, without a progress bar or a button that stops it."""
    return make(TO_THE_END)


@dataclass(frozen=True)
class Host:
    """Services that a host offers to a picture. The defaults are for notebooks and files; a page passes its own
    functions.

    If `is_strict`, a choice that cannot be drawn raises ValueError; otherwise the default choice is drawn. `cached`
    caches expensive parts. `find_maps` finds a model's linear maps, given the model and a trace; None means that the
    picture finds them. `find_rates` returns the model's alignment error rates in the `language` of the links made by
    hand; None means the shipped rates in the language of the trace. `run` does long work, given its name, its subject,
    a progress message, and a function that takes a `Cancellable`; it returns None if a visitor stopped the work.
    """

    is_strict: bool = True
    cached: Cache = make_anew
    find_maps: Callable[[Any, Any], Any] | None = None
    language: str | None = None
    find_rates: "Callable[[], Mapping[Any, float]] | None" = None
    run: Callable[[str, object, str, Callable[[Cancellable], Any]], Any] = run_to_the_end

    @property
    def rates(self) -> "Mapping[Any, float] | None":
        """The alignment error rates that the host finds; None if it has no `find_rates`."""
        return None if self.find_rates is None else self.find_rates()


NO_HELP = Host()
