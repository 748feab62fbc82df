"""Admission control: reject requests whose estimated wait exceeds their deadline."""

import math
import time
from collections import Counter
from dataclasses import dataclass

from attnviz.engine.exchange import RefusedError

_LATELY = 0.3  # what the newest answer's seconds count
_LONGEST_PAUSE = 10  # seconds of a refused caller's pause, at most


@dataclass(frozen=True)
class Limits:
    """Bounds of a replica: it holds at most `waiting` requests, and no more than it should answer within `wait_seconds`
    of when they were sent; at most `batch` run together, after the first has waited `batch_seconds` for others.
    """

    waiting: int = 32
    wait_seconds: float = 4.0
    batch: int = 8
    batch_seconds: float = 0.004


class Admission:
    """The requests in a replica, and an estimate of how long they will take. It belongs to one event loop.

    What an operation takes is learned from each answer: the seconds since it came in, shared with all that were before
    it. So batches, and whatever else the machine does, are in it.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seconds: dict[str, float] = {}  # of an answer, by operation
        self._inside: Counter[str] = Counter()

    def enter(self, operation: str, *, sent: float, until: float) -> "Admitted":
        """Admit a request. `sent` and `until` are when it was sent and is wanted, in seconds since 1970.

        Raises RefusedError (429, with the seconds after which there should be room) for one that would come too late.
        Where nothing else is to be done, every request is let in: else one slow answer could shut the door for good.
        """
        count, own = self._inside.total(), self.seconds_of(operation)
        expected = own + sum(each * self.seconds_of(name) for name, each in self._inside.items())
        allowed = min(self._limits.wait_seconds - _age(sent), until - time.time())
        if count >= self._limits.waiting or (count and expected > allowed):
            again = min(_LONGEST_PAUSE, max(1, math.ceil(expected - self._limits.wait_seconds)))
            raise RefusedError(429, "The engine is busy: try again in a moment.", again=again)
        self._inside[operation] += 1
        return Admitted(operation, time.monotonic(), own / expected if expected else 1 / (count + 1))

    def leave(self, entry: "Admitted", *, is_answered: bool) -> None:
        """Remove an admitted request; one that was answered updates the estimate."""
        self._inside[entry.operation] -= 1
        if is_answered:
            self.learn(entry.operation, entry.share * (time.monotonic() - entry.began))

    def seconds_of(self, operation: str) -> float:
        """Estimate the seconds of one operation; the slowest known one's for an operation that never ran."""
        return self._seconds.get(operation, max(self._seconds.values(), default=0.0))

    def learn(self, operation: str, seconds: float) -> None:
        """Update an operation's estimate with the seconds of one answer."""
        known = self._seconds.get(operation, seconds)
        self._seconds[operation] = known + _LATELY * (seconds - known)


@dataclass(frozen=True)
class Admitted:
    """An admitted request; `share` is its part of the seconds until its answer, which it shares with those before
    it.
    """

    operation: str
    began: float
    share: float


def _age(sent: float) -> float:
    """Return the seconds since a request was sent; a sender's clock that is ahead gives 0."""
    return max(0.0, time.time() - sent)
