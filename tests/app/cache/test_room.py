"""A shared room in bytes: a thing that does not fit is refused, and a deleted one makes room."""

import gc

import pytest

from attnviz.app.cache.pictures import Room


class Thing:
    pass


def test_what_does_not_fit_is_refused_and_takes_nothing() -> None:
    room, first = Room(100), Thing()
    room.put(first, 60)
    with pytest.raises(MemoryError, match="41 bytes are needed, and 40 are left"):
        room.put(Thing(), 41)
    assert room.taken_bytes == 60


def test_what_nobody_holds_any_more_makes_room() -> None:
    room, first = Room(100), Thing()
    room.put(first, 60)
    del first
    gc.collect()
    assert room.taken_bytes == 0
    room.put(Thing(), 100)
