"""Loaded models, kept while they are in use: a bounded shelf that many threads may reach into."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

Progress = Callable[[float, str], None]
Kept = TypeVar("Kept")


@dataclass
class _Place(Generic[Kept]):
    """A name's place: empty until its model is loaded, locked while somebody loads it."""

    lock: Lock = field(default_factory=Lock)
    model: Kept | None = None


class Shelf(Generic[Kept]):
    """At most `most` models; the one that was asked for longest ago makes room.

    `read(name, progress)` loads one. Two visitors who ask for the same name load it once, and neither waits for a
    model of another name. Room is made after loading, so that a name that cannot be loaded costs nobody a model.
    """

    def __init__(self, read: Callable[[str, Progress | None], Kept], *, most: int = 2) -> None:
        if most < 1:
            raise ValueError(f"A shelf holds at least one model, not {most}.")
        self._read, self._most = read, most
        self._places: OrderedDict[str, _Place[Kept]] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str, progress: Progress | None = None) -> Kept:
        """The model of that name, loaded if it is not here; whoever loads it is told of the progress.

        Raises what `read` raises; the name is then tried again the next time.
        """
        with self._lock:
            place = self._places.setdefault(name, _Place())
        with place.lock:
            if place.model is None:
                place.model = self._loaded(name, place, progress)
            model = place.model
        with self._lock:
            self._keep(name, place)
        return model

    @property
    def names(self) -> tuple[str, ...]:
        """What is loaded, the longest unused first."""
        with self._lock:
            return tuple(name for name, place in self._places.items() if place.model is not None)

    def _loaded(self, name: str, place: _Place[Kept], progress: Progress | None) -> Kept:
        try:
            return self._read(name, progress)
        except BaseException:
            with self._lock:
                if self._places.get(name) is place:
                    del self._places[name]
            raise

    def _keep(self, name: str, place: _Place[Kept]) -> None:
        self._places[name] = place  # it may have made room for others while this thread waited
        self._places.move_to_end(name)
        loaded = [other for other, kept in self._places.items() if kept.model is not None]
        for other in loaded[: max(0, len(loaded) - self._most)]:
            del self._places[other]
