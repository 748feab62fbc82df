"""Long work that reports its progress and may be stopped between two steps."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Cancellable:
    """`tell(done, total)` is called before the first of several steps and after each; once `should_stop()` is true no
    other is begun. `keep(name, make)` returns `make()`, or what it returned before for the same name: work that was
    interrupted and begins again finds there what it had finished.

    What was done until it stopped is what the work returns.
    """

    tell: Callable[[int, int], None] = lambda _done, _total: None
    should_stop: Callable[[], bool] = lambda: False
    keep: Callable[[Any, Callable[[], Any]], Any] = lambda _name, make: make()

    def iterate(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """Iterate; stop between two items when `should_stop()` is true."""
        if total > 1:
            self.tell(0, total)
        for done, item in enumerate(items, 1):
            if self.should_stop():
                return
            yield item
            self.tell(done, total)

    def part(self, before: int, total: int, name: Any) -> "Cancellable":
        """Return what a part of this work reports to: its steps count after `before` others, of `total` in all, and
        what it keeps has `name` before its own names. A part is never stopped in its middle.
        """
        return Cancellable(
            lambda done, _: self.tell(before + done, total), keep=lambda own, make: self.keep((name, own), make)
        )


TO_THE_END = Cancellable()
