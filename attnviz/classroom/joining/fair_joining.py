"""Rate limits of codes and new classes, so that no code is found by guessing."""

import math
from functools import lru_cache
from ipaddress import ip_address, ip_network

from limits import RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from attnviz.classroom.errors import ClassroomError
from attnviz.lessons.phrases import Translatable

_WRONG = RateLimitItemPerMinute(20, namespace="wrong codes of an address")
_ALL_WRONG = RateLimitItemPerMinute(300, namespace="wrong codes of all")
_STARTED = RateLimitItemPerHour(60, namespace="classes of an address")
_PART = 10_000  # characters, as which the size of a class is counted
_SAVED = RateLimitItemPerHour(600, namespace="parts of classes of an address")


class FairJoining:
    """Counts of this process. A whole class joins from one address at once: only wrong codes count. A
    class joins from one address at the same moment: only wrong codes count.
    """

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def require_a_try(self, address: str) -> None:
        """Raise ClassroomError where too many wrong codes came from an address, or from everywhere."""
        if not self._limiter.test(_WRONG, network_of(address)):
            raise ClassroomError(
                Translatable("Too many wrong codes were tried from here: wait a minute, then try again.")
            )
        if not self._limiter.test(_ALL_WRONG):
            raise ClassroomError(
                Translatable("Too many wrong codes are being tried at the moment: wait a minute, then try again.")
            )

    def count_wrong(self, address: str) -> None:
        """Count a wrong code."""
        self._limiter.hit(_WRONG, network_of(address))
        self._limiter.hit(_ALL_WRONG)

    def count_start(self, address: str, characters: int) -> None:
        """Count a class of so many characters. Raises ClassroomError where an address has started too many, or too
        large ones.
        """
        network, parts = network_of(address), math.ceil(characters / _PART)
        if not (self._limiter.test(_STARTED, network) and self._limiter.test(_SAVED, network, cost=parts)):
            raise ClassroomError("Too many classes were started from here: try again in an hour.")
        self._limiter.hit(_STARTED, network)
        self._limiter.hit(_SAVED, network, cost=parts)


@lru_cache(maxsize=10_000)
def network_of(address: str) -> str:
    """Return the network of one customer: an IPv6 address's /64, an IPv4 address itself, also where it is written
    as IPv6 (`::ffff:192.0.2.1`). Another text is a customer of its own.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 6:
        found = found.ipv4_mapped or found
    return str(found) if found.version == 4 else str(ip_network((int(found), 64), strict=False))
