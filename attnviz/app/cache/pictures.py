"""The caches for what pages compute from traces: pictures, and the tables and tensors that pictures are made from."""

import hashlib
import sys
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import Any, TypeVar

import streamlit as st

from attnviz.app.cache import budget, threads
from attnviz.app.cache.bounded import BoundedCache
from attnviz.app.frame.page import run_whole


class Room:
    """A limit on the bytes that several objects may use together."""

    def __init__(self, most: int) -> None:
        self._most, self._taken, self._lock = most, 0, Lock()

    @property
    def taken_bytes(self) -> int:
        """The number of bytes in use."""
        return self._taken

    def put(self, thing: Any, size: int) -> None:
        """Count `size` bytes for as long as `thing` exists. Raises MemoryError if fewer bytes are left."""
        with self._lock:
            if self._taken + size > self._most:
                raise MemoryError(f"{size:,} bytes are needed, and {self._most - self._taken:,} are left")
            self._taken += size
        weakref.finalize(thing, self._give_back, size).atexit = False

    def _give_back(self, size: int) -> None:
        with self._lock:
            self._taken -= size


Made = TypeVar("Made")
_LONG = 400  # characters: pictures of shorter texts are there before a spinner would be seen
# Bytes of all visitors' own weights and of what is computed from them.
ROOM = Room(int(budget.bytes_for("own tensors")))


def get_or_make(picture: str, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """Return `make()`, or the cached result of an earlier call for the same picture and `key`.

    A trace in the key is identified by its weights, sentences and interventions. Everything else that the result
    depends on (kinds, options, a probe that was passed to the run) must be in the key too, and is compared by its
    `repr`. If the key has a trace of a visitor's own weights, the result is cached for that visitor alone until they
    leave.
    """
    from attnviz.tracing.trace_like import TraceLike  # torch, which a page's frame does without

    said = repr((picture, [name_of(part) if isinstance(part, TraceLike) else part for part in key]))
    name = hashlib.blake2b(said.encode("utf-8", "surrogatepass")).hexdigest()
    traces = [part for part in key if isinstance(part, TraceLike)]
    if any(trace.from_file for trace in traces):
        return _cache_in_room(name, make)
    longest = max((len(text) for trace in traces for text in (trace.src_text, trace.tgt_text)), default=0)
    return _made.get(name, read=lambda *_: _make(make, longest))


def name_of(trace: Any) -> tuple[Any, ...]:
    """Return what identifies a trace in a cache key: its weights, sentences and interventions."""
    return trace.model_id, trace.info.dtype, trace.sentences, [each.digest for each in trace.interventions]


def _make(make: Callable[[], Made], characters: int) -> Made:
    run_whole()
    waits = st.spinner("Making every head's map …") if characters > _LONG else nullcontext()
    with waits, threads.enough_for(characters):
        return make()


_made: BoundedCache[str, Any] = BoundedCache(most=budget.bytes_for("pictures"), size=lambda made: size(made))


class _Kept:
    """A cached result whose bytes count against the room while it exists."""

    def __init__(self, made: Any) -> None:
        self.made = made
        ROOM.put(self, size(made))


def _cache_in_room(name: str, make: Callable[[], Made]) -> Made:
    """Return `make()`, cached for this session alone.

    If the room is full, the result is returned without caching it.
    """
    made: list[Made] = []

    def make_and_keep() -> _Kept:
        run_whole()
        made.append(make())
        return _Kept(made[0])

    try:
        return _made_of_own(name, make_and_keep).made
    except MemoryError:
        if made:
            return made[0]
        raise


@st.cache_resource(max_entries=8, scope="session", show_spinner="Making every head's map …")
def _made_of_own(name: str, _make: Callable[[], _Kept]) -> _Kept:
    return _make()


def size(made: Any) -> int:
    """Count the bytes of a result that pages compute: bytes, tensors, tables, and containers of these."""
    if isinstance(made, int | float | str | bytes):  # first, because tables have thousands of numbers
        return sys.getsizeof(made)
    if isinstance(made, tuple | list):
        return sum(map(size, made))
    if isinstance(made, dict):
        return sum(map(size, made.values()))
    if is_dataclass(made):
        return sum(size(getattr(made, part.name)) for part in fields(made))
    if hasattr(made, "untyped_storage"):  # a tensor, which may be a few numbers seen many times
        return made.untyped_storage().nbytes()
    if hasattr(made, "__array_interface__"):  # NumPy's, which says of a view that it has none of its own
        return made.nbytes
    return sys.getsizeof(made)  # pandas adds up the columns of a table
