"""Long work that reports its progress and may be stopped between two steps."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Cancellable:
    """`tell(done, total)` is called before the first of several steps and after each; once `should_stop()` is true, no
    further step begins. `keep(name, make)` returns `make()`, or the result that `make()` had before under the same
    name: work that was interrupted and begins again finds its finished steps there.

    Work that is stopped returns what it has done so far.
    """

    tell: Callable[[int, int], None] = lambda _done, _total: None
    should_stop: Callable[[], bool] = lambda: False
    keep: Callable[[Any, Callable[[], Any]], Any] = lambda _name, make: make()

    def iterate(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """Iterate; stop between two items when `should_stop()` is true."""
        if total > 1:
            self.tell(0, total)
        if self.should_stop():
            return
        for done, item in enumerate(items, 1):
            yield item
            self.tell(done, total)
            if self.should_stop():
                return

    def part(self, before: int, total: int, name: Any) -> "Cancellable":
        """Return the Cancellable of a part of this work: its steps count after `before` others, of `total` in all, and
        the names of its kept results begin with `name`. A part is never stopped in its middle.
        """
        return Cancellable(
            lambda done, _: self.tell(before + done, total), keep=lambda own, make: self.keep((name, own), make)
        )

    def inside_step(self, done: int, total: int) -> "Cancellable":
        """Return the Cancellable of the passes of one step, before which `done` steps of `total` are finished."""
        return Cancellable(lambda _done, _total: self.tell(done, total))


TO_THE_END = Cancellable()
