"""Weak cache of facts derived from an object, such as a trace's notes, which every run asks for."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Fact = TypeVar("Fact")


class WeakMemo(Generic[Fact]):
    """A fact of each object, by the object's identity, for as long as the object lives."""

    def __init__(self) -> None:
        self._facts: dict[int, Fact] = {}

    def get(self, thing: object, find: Callable[[], Fact]) -> Fact:
        """Return `find()`, or what it returned before for this very object."""
        name = id(thing)
        if name not in self._facts:
            self._facts[name] = find()
            weakref.finalize(thing, self._facts.pop, name, None).atexit = False
        return self._facts[name]
