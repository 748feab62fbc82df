"""What was computed of a thing, kept for as long as the thing lives: small facts of a trace, asked for in every run."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Fact = TypeVar("Fact")


class Beside(Generic[Fact]):
    """A fact of each thing that somebody asked about; things are told apart by identity."""

    def __init__(self) -> None:
        self._facts: dict[int, Fact] = {}

    def get(self, thing: object, find: Callable[[], Fact]) -> Fact:
        """`find()`, or what it gave before for this very thing."""
        name = id(thing)
        if name not in self._facts:
            self._facts[name] = find()
            weakref.finalize(thing, self._facts.pop, name, None).atexit = False
        return self._facts[name]
