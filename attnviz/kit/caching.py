"""What a host does for the pictures that it shows: its cache, and on a page what takes long or stands beside them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from attnviz.analysis.cancellable import TO_THE_END, Cancellable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from attnviz.heads.alignment.numbers.alignment_ways import Aligner, KnownMaps

Made = TypeVar("Made")


class Cache(Protocol):
    """Return `make()`, or what it returned before for the same picture and key."""

    def __call__(self, picture: str, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
        """Look up `key`, which holds the trace and all else that `make` reads."""
        ...


def make_anew(picture: str, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """Make it each time: the cache of a notebook."""
    return make()


def run_to_the_end(key: str, asked: object, doing: str, make: Callable[[Cancellable], Made]) -> Made | None:
    """Do long work at once, without a bar and without a button that stops it."""
    return make(TO_THE_END)


@dataclass(frozen=True)
class Host:
    """What a host does for a picture. A notebook and a file do nothing special; a page passes its own functions.

    If `is_strict`, a choice that cannot be drawn raises ValueError; else the usual choice is drawn. `cached` looks up
    what is expensive to make. `find_maps` finds a model's own maps, given the model and a trace; None is
    `KnownMaps.find`. `find_rates` finds the alignment error rates of the model in the `language` of the links by hand;
    None means those that are shipped with the model, in the language of the trace. `run` does long work, given the name
    of the work, its subject, what to say meanwhile, and a function of a `Cancellable`; it returns None if a visitor
    stopped the work.
    """

    is_strict: bool = True
    cached: Cache = make_anew
    find_maps: "Callable[[Any, Any], KnownMaps] | None" = None
    language: str | None = None
    find_rates: "Callable[[], Mapping[Aligner, float]] | None" = None
    run: Callable[[str, object, str, Callable[[Cancellable], Any]], Any] = run_to_the_end

    @property
    def rates(self) -> "Mapping[Aligner, float] | None":
        """The alignment error rates that the host finds; None where the host finds none itself."""
        return None if self.find_rates is None else self.find_rates()


NO_HELP = Host()
