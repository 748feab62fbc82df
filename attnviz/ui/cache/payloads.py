"""What the browser is sent for a tab: computed once for a text, and cached for the choices that follow."""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import streamlit as st

from attnviz.ui.cache import budget
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.cache.room import Room
from attnviz.widgets.wire import Payload

if TYPE_CHECKING:
    from attnviz.maps.options import MapOptions
    from attnviz.tracing.trace import TraceLike
    from attnviz.transformer.probe import Kind

Made = TypeVar("Made")
Key: TypeAlias = "tuple[str, Kind, MapOptions | str]"  # of which picture, of which maps; or of what else is measured
# Bytes of all visitors' own weights and of what is computed from them.
ROOM = Room(int(budget.bytes_for("own tensors")))


def cached_payload(trace: "TraceLike", key: Key, view: dict[str, Any], *, make: Callable[[], Payload]) -> Payload:
    """`make()`, or what it gave before for the same run and `key`; with `view` in its header."""
    return cached(trace, key, make=make).with_view(view)


def cached(trace: "TraceLike", key: Key, *, make: Callable[[], Made]) -> Made:
    """`make()`, or what it gave before for the same weights, sentences, interventions and `key`.

    What is computed of a visitor's own weights is cached for that visitor alone, and goes when they leave.
    """
    done = [each.digest for each in trace.interventions]
    said = repr((trace.model_id, trace.info.dtype, trace.sentences, done, key))
    name = hashlib.blake2b(said.encode("utf-8", "surrogatepass")).hexdigest()
    return _within_room(name, make) if trace.is_brought else _made.get(name, read=lambda *_: _shown(make))


def _shown(make: Callable[[], Made]) -> Made:
    with st.spinner("Making every head's map …"):
        return make()


_made: BoundedCache[str, Any] = BoundedCache(most=budget.bytes_for("payloads"), size=lambda made: size(made))


class _Kept:
    """What was computed; it counts against the room for as long as it is cached."""

    def __init__(self, made: Any) -> None:
        self.made = made
        ROOM.put(self, size(made))


def _within_room(name: str, make: Callable[[], Made]) -> Made:
    """As `_made`; where there is no room to keep it, it is made, and made again the next time."""
    made: list[Made] = []

    def make_and_keep() -> _Kept:
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
    """Bytes of what pages make of weights: packed numbers, tensors, tables, and what consists of these."""
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
