"""Long work that reports its progress and can be stopped between two steps."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Cancellable:
    """Callbacks for long work in several steps.

    `tell(done, total)` is called before the first step and after each. Once `should_stop()` is true, no further step
    begins, and the work returns what it has done so far. `keep(name, make)` returns `make()`, or its earlier result
    under the same name, so that restarted work finds its finished steps.
    """

    tell: Callable[[int, int], None] = lambda _done, _total: None
    should_stop: Callable[[], bool] = lambda: False
    keep: Callable[[Any, Callable[[], Any]], Any] = lambda _name, make: make()

    def iterate(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """Yield the items, and stop between two items if `should_stop()` is true."""
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
        """Return the Cancellable for a part of this work, which cannot be stopped midway.

        Its steps count after `before` other steps of `total` in all, and the names of its kept results begin with
        `name`.
        """
        return Cancellable(
            lambda done, _: self.tell(before + done, total), keep=lambda own, make: self.keep((name, own), make)
        )

    def inside_step(self, done: int, total: int) -> "Cancellable":
        """Return a Cancellable for the passes within one step; it keeps reporting `done` of `total` steps."""
        return Cancellable(lambda _done, _total: self.tell(done, total))


TO_THE_END = Cancellable()
