"""Rules for joining a class: visible nicknames, and rate limits against guessing codes."""

import math
import unicodedata

from limits import RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from attnviz.classroom.errors import ClassroomError
from attnviz.guards.network import network_of
from attnviz.lessons.phrases import Translatable
from attnviz.text.display import is_unseen_letter

MOST = 40  # characters
_MOST_MARKS = 3  # accents on one letter
_UNSEEN = "\u200c\u200d\ufe0e\ufe0f"  # joiners and styles, which Persian, Hindi and emoji need


def validate_nickname(typed: str) -> str:
    """Normalize a nickname to NFC with single spaces, as it is saved.

    Raises ClassroomError for a nickname that is empty, too long, or has invisible characters.
    """
    if len(typed) > 10 * MOST:
        raise ClassroomError(_too_long(len(typed)))
    name = " ".join(unicodedata.normalize("NFC", typed).split())
    for one in name:
        if one not in _UNSEEN and (unicodedata.category(one)[0] == "C" or is_unseen_letter(one)):
            raise ClassroomError(
                Translatable(
                    "A nickname must not contain invisible characters, such as U+{code}. Please type it again.",
                    code=f"{ord(one):04X}",
                )
            )
    if len(name) > MOST:
        raise ClassroomError(_too_long(len(name)))
    if not any(unicodedata.category(one)[0] in "LNS" for one in name):
        raise ClassroomError(Translatable("Type a nickname with at least one letter, number or emoji."))
    if _marks_in_a_row(name) > _MOST_MARKS:
        raise ClassroomError(
            Translatable(
                "A nickname may have at most {most} accents on one letter. Please leave some out.", most=_MOST_MARKS
            )
        )
    return name


def fold_nickname(name: str) -> str:
    """Normalize a nickname for comparison: ignore case, width, styles and joiners, so that “ana” equals “Ａｎａ”."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(one for one in plain if one not in _UNSEEN)


def _too_long(length: int) -> str:
    return Translatable(
        "A nickname may have at most {most} characters, but this one has {count}.", most=MOST, count=f"{length:,}"
    )


def _marks_in_a_row(name: str) -> int:
    most = row = 0
    for one in name:
        row = row + 1 if unicodedata.category(one) in ("Mn", "Me") else 0
        most = max(most, row)
    return most


_WRONG = RateLimitItemPerMinute(20, namespace="wrong codes of an address")
_ALL_WRONG = RateLimitItemPerMinute(300, namespace="wrong codes of all")
_STARTED = RateLimitItemPerHour(60, namespace="classes of an address")
_PART = 10_000  # characters, as which the size of a class is counted
_SAVED = RateLimitItemPerHour(600, namespace="parts of classes of an address")


class FairJoining:
    """Rate limits for wrong codes and new classes in this process.

    Right codes do not count, because a whole class joins from one address at the same moment.
    """

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def require_a_try(self, address: str) -> None:
        """Raise ClassroomError if too many wrong codes came from this address, or from all addresses together."""
        if not self._limiter.test(_WRONG, network_of(address)):
            raise ClassroomError(
                Translatable("Too many wrong codes were tried from here. Please wait a minute, then try again.")
            )
        if not self._limiter.test(_ALL_WRONG):
            raise ClassroomError(
                Translatable(
                    "Too many wrong codes are being tried at the moment. Please wait a minute, then try again."
                )
            )

    def count_wrong(self, address: str) -> None:
        """Count a wrong class code that was typed at this network address."""
        self._limiter.hit(_WRONG, network_of(address))
        self._limiter.hit(_ALL_WRONG)

    def count_start(self, address: str, characters: int) -> None:
        """Count a new class whose lesson has this many characters.

        Raises ClassroomError if the address has started too many classes, or too large ones.
        """
        network, parts = network_of(address), math.ceil(characters / _PART)
        if not (self._limiter.test(_STARTED, network) and self._limiter.test(_SAVED, network, cost=parts)):
            raise ClassroomError("Too many classes were started from here. Please try again in an hour.")
        self._limiter.hit(_STARTED, network)
        self._limiter.hit(_SAVED, network, cost=parts)
