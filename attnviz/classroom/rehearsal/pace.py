"""When invented students answer: a function of a seed, the question, and the seconds since it was asked.

No thread runs; a later call simply returns more answers. One of twelve students never answers, and one of eight is
late. In the first round a little more than half of the answers are right, and in the second round half of the other
students are right too.
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
    """How an invented student, numbered from 1, answers a question.

    The student answers `after` this many seconds, or never if it is None. A student who `wants_hint` opens the first
    hint after half of that time.
    """

    student: int
    after: float | None
    is_right: bool
    wants_hint: bool


class InventedWalk(NamedTuple):
    """The progress of an invented student who works alone: the current step, and the steps answered so far."""

    student: int
    at: int
    answered: tuple[int, ...]


def turns(seed: str, size: int, at: int, in_round: str) -> tuple[InventedTurn, ...]:
    """Return how each of `size` students answers step `at` in a round, ordered by the students' numbers."""
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
    """Select the answers that have been given by `seconds` after the question was asked."""
    return tuple(turn for turn in found if turn.after is not None and turn.after <= seconds)


def hinted_turns(found: Sequence[InventedTurn], seconds: float) -> tuple[InventedTurn, ...]:
    """Select the answers whose student has opened a hint by `seconds` after the question was asked."""
    return tuple(turn for turn in found if turn.wants_hint and turn.after is not None and turn.after / 2 <= seconds)


def walks(seed: str, size: int, asks: Sequence[bool], seconds: float) -> tuple[InventedWalk, ...]:
    """Return the progress of each student who works alone, `seconds` after the start.

    `asks` says for each step whether it has a question. A student who never answers a question stays at its step.
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
    """Choose the numbers of the students whose answer is right.

    In the second round these are the students who were right in the first, and half of the others.
    """
    best_first = Random(f"{seed} {at} right").sample(range(1, size + 1), size)
    right = round(_RIGHT * size)
    if in_round == AFTER:
        right += (size - right + 1) // 2
    return set(best_first[:right])


def _seconds(seed: str, student: int, chance: Random) -> float:
    """Return how many seconds a student takes: a random factor of the student, times a random factor of the
    question.
    """
    own = Random(f"{seed} pace {student}").lognormvariate(0, 0.4)
    return min(max(_USUAL * own * chance.lognormvariate(0, 0.3), _SOONEST), _LATEST)
