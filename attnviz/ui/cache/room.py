"""A budget of bytes that all visitors share: an object counts until it is garbage."""

import weakref
from threading import Lock
from typing import Any


class Room:
    """At most `most` bytes of things together."""

    def __init__(self, most: int) -> None:
        self._most, self._taken, self._lock = most, 0, Lock()

    @property
    def taken(self) -> int:
        """Bytes that are in use."""
        return self._taken

    def put(self, thing: Any, size: int) -> None:
        """Let `thing` take `size` bytes for as long as it lives. Raises MemoryError where they are not there."""
        with self._lock:
            if self._taken + size > self._most:
                raise MemoryError(f"{size:,} bytes are asked for, and {self._most - self._taken:,} are left")
            self._taken += size
        weakref.finalize(thing, self._give_back, size).atexit = False

    def _give_back(self, size: int) -> None:
        with self._lock:
            self._taken -= size
