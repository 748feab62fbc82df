"""Admission control: reject requests whose estimated wait exceeds their deadline."""

import math
import time
from collections import Counter
from dataclasses import dataclass

from attnviz.engine.exchange import RefusedError

_LATELY = 0.3  # weight of the newest answer in the running average
_LONGEST_PAUSE = 10  # seconds that a refused caller is asked to wait, at most


@dataclass(frozen=True)
class Limits:
    """Limits of a replica.

    It holds at most `waiting` requests, and no more than it should answer within `wait_seconds` after they were sent.
    At most `batch` requests run together, after the first has waited `batch_seconds` for others.
    """

    waiting: int = 32
    wait_seconds: float = 4.0
    batch: int = 8
    batch_seconds: float = 0.004


class Admission:
    """The requests in a replica, and an estimate of how long they will take. It belongs to one event loop.

    The duration of an operation is learned from each answer: the seconds since the request came in, divided among all
    requests that were inside before it. So the estimate includes batching and whatever else the machine does.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seconds: dict[str, float] = {}  # estimated seconds of an answer, by operation
        self._inside: Counter[str] = Counter()

    def enter(self, operation: str, *, sent: float, until: float) -> "Admitted":
        """Admit a request that was sent at `sent` and must be answered by `until`, both in seconds since 1970.

        Raises RefusedError (429, with the seconds to wait before the next try) if the answer would come too late. When
        nothing else is running, every request is admitted, because otherwise one slow answer could block all later
        requests.
        """
        count, own = self._inside.total(), self.seconds_of(operation)
        expected = own + sum(each * self.seconds_of(name) for name, each in self._inside.items())
        allowed = min(self._limits.wait_seconds - _age(sent), until - time.time())
        if count >= self._limits.waiting or (count and expected > allowed):
            again = min(_LONGEST_PAUSE, max(1, math.ceil(expected - self._limits.wait_seconds)))
            raise RefusedError(429, "The engine is busy. Please try again in a moment.", again=again)
        self._inside[operation] += 1
        return Admitted(operation, time.monotonic(), own / expected if expected else 1 / (count + 1))

    def leave(self, entry: "Admitted", *, is_answered: bool) -> None:
        """Remove an admitted request; if it was answered, update the estimate."""
        self._inside[entry.operation] -= 1
        if is_answered:
            self.learn(entry.operation, entry.share * (time.monotonic() - entry.began))

    def seconds_of(self, operation: str) -> float:
        """Return the estimated seconds of an operation; the largest known estimate for an operation that never ran."""
        return self._seconds.get(operation, max(self._seconds.values(), default=0.0))

    def learn(self, operation: str, seconds: float) -> None:
        """Update an operation's estimate with the seconds of one answer."""
        known = self._seconds.get(operation, seconds)
        self._seconds[operation] = known + _LATELY * (seconds - known)


@dataclass(frozen=True)
class Admitted:
    """An admitted request; `share` is its part of the time until its answer, which includes the requests before it."""

    operation: str
    began: float
    share: float


def _age(sent: float) -> float:
    """Return the seconds since a request was sent, or 0 if the sender's clock is ahead."""
    return max(0.0, time.time() - sent)
