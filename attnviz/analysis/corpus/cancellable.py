"""Long work that reports its progress and may be stopped between two steps."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Cancellable:
    """`tell(done, total)` is called after each step; once `should_stop()` is true no other is begun.

    What was done until then is what the work returns.
    """

    tell: Callable[[int, int], None] = lambda _done, _total: None
    should_stop: Callable[[], bool] = lambda: False

    def iterate(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """Iterate; stop between two items when `should_stop()` is true."""
        for done, item in enumerate(items, 1):
            if self.should_stop():
                return
            yield item
            self.tell(done, total)


TO_THE_END = Cancellable()
