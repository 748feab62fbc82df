"""The pace of invented students: a function of a seed, the question and the seconds since it was asked.

No thread runs: a later call returns more answers. Of twelve students one never answers, and of eight
one is late; in the first round a little more than half are right, in the second half of the others as well.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from attnviz.classroom.state import AFTER, BEFORE

MOST_STUDENTS = 30
_RIGHT = 0.55  # of all, in the first round
_ONE_NEVER, _ONE_LATE, _ONE_HINT = 12, 8, 6  # in so many students one
_USUAL, _SOONEST, _LATEST = 10.0, 2.0, 40.0  # seconds; half of the students take less than the first
_LATE = (50.0, 90.0)  # seconds, of those who are late


class InventedTurn(NamedTuple):
    """A student's answer to a question, numbered from 1: `after` so many seconds, or never where that is None. One
    who `wants_hint` opens the first in half of that time.
    """

    student: int
    after: float | None
    is_right: bool
    wants_hint: bool


class InventedWalk(NamedTuple):
    """The progress of a student who works alone: the step they are at, and the steps that they have answered."""

    student: int
    at: int
    answered: tuple[int, ...]


def turns(seed: str, size: int, at: int, in_round: str) -> tuple[InventedTurn, ...]:
    """Draw the turns of `size` students at step `at` in a round, ordered by the students' numbers."""
    chance = Random(f"{seed} {at} {in_round}")
    slow_first = chance.sample(range(1, size + 1), size)
    hints = set(chance.sample(range(1, size + 1), size // _ONE_HINT)) if in_round == BEFORE else set()
    right = _right_students(seed, size, at, in_round)
    found = []
    for place, student in enumerate(slow_first):
        after = _seconds(seed, student, chance)
        if place < size // _ONE_NEVER:
            after = None
        elif place < size // _ONE_NEVER + size // _ONE_LATE:
            after = chance.uniform(*_LATE)
        found.append(InventedTurn(student, after, student in right, student in hints))
    return tuple(sorted(found))


def finished_turns(found: Sequence[InventedTurn], seconds: float) -> tuple[InventedTurn, ...]:
    """Select the turns that are over so many seconds after the question was asked."""
    return tuple(turn for turn in found if turn.after is not None and turn.after <= seconds)


def hinted_turns(found: Sequence[InventedTurn], seconds: float) -> tuple[InventedTurn, ...]:
    """Select the turns whose student has opened a hint by then."""
    return tuple(turn for turn in found if turn.wants_hint and turn.after is not None and turn.after / 2 <= seconds)


def walks(seed: str, size: int, asks: Sequence[bool], seconds: float) -> tuple[InventedWalk, ...]:
    """Return the progress of each student who walks alone, so many seconds after they set off; `asks` says which
    steps ask something. A student who never answers a step stays there.
    """
    by_step = [turns(seed, size, at, BEFORE) for at in range(len(asks))]
    return tuple(
        _walk(student, [found[student - 1] for found in by_step], asks, seconds) for student in range(1, size + 1)
    )


def _walk(student: int, own: Sequence[InventedTurn], asks: Sequence[bool], seconds: float) -> InventedWalk:
    left, answered = seconds, []
    for at, turn in enumerate(own):
        if turn.after is None or turn.after > left:
            return InventedWalk(student, at, tuple(answered))
        left -= turn.after
        if asks[at]:
            answered.append(at)
    return InventedWalk(student, len(own) - 1, tuple(answered))


def _right_students(seed: str, size: int, at: int, in_round: str) -> set[int]:
    """Draw the students who answer right, by number; in the second round those of the first and half of the others."""
    best_first = Random(f"{seed} {at} right").sample(range(1, size + 1), size)
    right = round(_RIGHT * size)
    if in_round == AFTER:
        right += (size - right + 1) // 2
    return set(best_first[:right])


def _seconds(seed: str, student: int, chance: Random) -> float:
    """Draw a student's seconds: each is quick or slow at every question, and more so at some."""
    own = Random(f"{seed} pace {student}").lognormvariate(0, 0.4)
    return min(max(_USUAL * own * chance.lognormvariate(0, 0.3), _SOONEST), _LATEST)
