"""A bounded cache that many threads may use, for loaded models and their traces."""

import ctypes
import gc
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet

from attnviz.app import hosting

UNDER_WAY = "Another visitor is loading this model. Your run starts as soon as it is loaded."

Progress = Callable[[float, str], None]
Kept = TypeVar("Kept")
Name = TypeVar("Name", bound=Hashable)
Read = Callable[[Name, Progress | None], Kept]


@dataclass
class _Slot(Generic[Kept]):
    """The place of one name in the cache. It is empty until the model is loaded, and locked while a thread loads it."""

    lock: Lock = field(default_factory=Lock)
    model: Kept | None = None
    size: float = 0


class OfBytes(Protocol):
    """Cache that counts the bytes of its entries and can remove them."""

    @property
    def total(self) -> float:
        """The number of bytes of all entries."""
        ...

    def forget(self, is_stale: Callable[[Any], bool]) -> None:
        """Remove the entries for whose names `is_stale` returns True."""
        ...


_of_bytes: "WeakSet[OfBytes]" = WeakSet()  # every cache that counts bytes


def count_in(cache: OfBytes) -> None:
    """Register a cache, so that `empty` empties it with the others."""
    _of_bytes.add(cache)


def empty() -> float:
    """Empty all caches that count bytes: traces, maps, and results computed from them. Loaded models stay.

    Freed memory is returned to the operating system. Returns how many bytes the caches counted before.
    """
    caches = list(_of_bytes)
    held = sum(cache.total for cache in caches)
    for cache in caches:
        cache.forget(lambda _: True)
    gc.collect()
    give_memory_back()
    return held


_SELDOM, _MUCH = 1.0, 16e6  # seconds; bytes
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # of malloc.h
_LARGE_BLOCK = 1 << 20  # bytes
_given_back = [0.0]  # when memory was given back to the system


def give_memory_back(*, now_and_then: bool = False) -> None:
    """Give freed memory back to the system; otherwise glibc keeps it, separately for each thread that allocated some.
    With `now_and_then`, do so at most once a second, so that a loop over large computations can call this in each
    round.
    """
    if now_and_then and time.monotonic() - _given_back[0] < _SELDOM:
        return
    _given_back[0] = time.monotonic()
    with suppress(OSError, AttributeError):  # another C library, another system
        ctypes.CDLL(None).malloc_trim(0)


def with_room(run: Callable[[], Kept]) -> Kept:
    """Call `run`. If the device runs out of memory, empty the caches and call `run` once more.

    Raises ValueError, with a message of one sentence, if the memory does not suffice then either.
    """
    from attnviz.transformer.device import retry_out_of_memory  # imports torch, which a page's frame does without

    return retry_out_of_memory(run, empty)


def limit_heaps() -> None:
    """Limit glibc to two heaps for all threads, since a heap for each thread would keep what was freed. Take large
    blocks, such as the tensors of a long prompt, from the system, so that each goes back when it is freed: by itself,
    glibc takes blocks of up to 32 MB from a heap once such a block was freed. Call this before any thread starts.
    """
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_ARENA_MAX, 2)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


class BoundedCache(Generic[Name, Kept]):
    """At most `most` models, or entries whose `size` adds up to `most`. The least recently used entries are evicted.

    The newest entry stays, however large it is.

    `read(name, progress)` loads an entry. Two visitors who ask for the same name load it once, and neither waits for
    another name. Entries are evicted after loading, so a name that cannot be loaded evicts nothing. If the cache has no
    `read`, each call of `get` passes one.
    """

    def __init__(
        self, read: Read[Name, Kept] | None = None, *, most: float = 2,
        size: Callable[[Kept], float] | None = None,
    ) -> None:  # fmt: skip
        if most < 1:
            raise ValueError(f"The cache must have room for at least one model, not {most}.")
        self._read, self._most, self._size = read, most, size or (lambda _: 1.0)
        self._places: OrderedDict[Name, _Slot[Kept]] = OrderedDict()
        self._total = 0.0  # of what is in `_places`: counted as it comes and goes, not anew
        self._lock = Lock()
        if size is not None:
            _of_bytes.add(self)

    def get(self, name: Name, progress: Progress | None = None, *, read: Read[Name, Kept] | None = None) -> Kept:
        """Return the entry with this name, and load it first if it is missing.

        The loading thread calls `progress`; other threads that wait for the name get one "already loading" message.
        `read` replaces the cache's own function, for an entry that cannot be computed from its name alone; the function
        itself is not kept. An exception of `read` is passed on, and the next call tries again. The result is not cached
        either if the server has ended the run meanwhile: `read` may have turned that into a result.
        """
        read = read or self._read
        if read is None:
            raise ValueError(
                f"The cache cannot compute {name!r}, because it has no function to compute it. Please "
                "construct the cache with a `read`, or pass one."
            )
        with self._lock:
            place = self._places.setdefault(name, _Slot())
        if progress is not None and place.model is None and place.lock.locked():
            progress(0.0, UNDER_WAY)
        with hosting.hold(place.lock):
            if place.model is None:
                had_turn = hosting.has_turn()
                loaded = self._load_once(name, place, lambda: read(name, progress))
                if hosting.is_over() or (had_turn and not hosting.has_turn()):
                    self._drop(name, place)
                    return loaded
                size = self._size(loaded)
                with self._lock:
                    place.model, place.size = loaded, size
                    self._total += size if self._places.get(name) is place else 0
            model = place.model
        with self._lock:
            self._keep(name, place)
        return model

    @property
    def names(self) -> tuple[Name, ...]:
        """The names of all entries, the least recently used first."""
        with self._lock:
            return tuple(name for name, place in self._places.items() if place.model is not None)

    def find(self, name: Name) -> Kept | None:
        """Return the entry with this name, or None."""
        with self._lock:
            place = self._places.get(name)
            return None if place is None else place.model

    def __contains__(self, name: Name) -> bool:
        """Whether the cache has an entry with this name."""
        return self.find(name) is not None

    @property
    def total(self) -> float:
        """The sum of the sizes of all entries."""
        return self._total

    def forget(self, is_stale: Callable[[Name], bool]) -> None:
        """Remove the entries for whose names `is_stale` returns True.

        A thread that already holds one may go on using it.
        """
        with self._lock:
            for name in [name for name, place in self._places.items() if place.model is not None and is_stale(name)]:
                self._total -= self._places.pop(name).size

    def _load_once(self, name: Name, place: _Slot[Kept], load: Callable[[], Kept]) -> Kept:
        try:
            return with_room(load)
        except BaseException:
            self._drop(name, place)
            raise

    def _drop(self, name: Name, place: _Slot[Kept]) -> None:
        """Remove the place of a name whose model could not be loaded."""
        with self._lock:
            if self._places.get(name) is place:
                del self._places[name]

    def _keep(self, name: Name, place: _Slot[Kept]) -> None:
        if self._places.get(name) is not place:  # it may have made room for others while this thread waited
            self._total += place.size - self._places[name].size if name in self._places else place.size
            self._places[name] = place
        self._places.move_to_end(name)
        before = self._total
        while self._total > self._most:
            oldest = next(other for other, kept in self._places.items() if kept.model is not None)
            if oldest == name:
                break
            self._total -= self._places.pop(oldest).size
        if before - self._total > _MUCH:
            give_memory_back(now_and_then=True)
