"""Rehearsals: classes with invented students, with which a teacher prepares a lesson.

They have their own database in memory, which never contains a real student, answer or grade.

The pace of invented students is a function of a seed, the question and the seconds since it was asked. No thread runs:
a later call returns more answers. Of twelve students one never answers, and of eight one is late. In the first round a
little more than half are right, in the second round half of the others as well.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, BEFORE, OPEN, TeacherKey, TeacherView
from attnviz.classroom.students import Students
from attnviz.classroom.truths import RunPicture, TakeTurn
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, Question
from attnviz.lessons.scoring import Truth, score_answer

MOST_STUDENTS = 30
_RIGHT = 0.55  # of all, in the first round
_ONE_NEVER, _ONE_LATE, _ONE_HINT = 12, 8, 6  # in so many students one
_USUAL, _SOONEST, _LATEST = 10.0, 2.0, 40.0  # seconds; half of the students take less than the first
_LATE = (50.0, 90.0)  # seconds, of those who are late
TEXTS = (
    "Invented: because the model has met this sentence often.",
    "Invented: it looks at the word that it needs next.",
    "Invented: I would say that the verb decides.",
    "Invented: I am not sure, perhaps the end of the sentence.",
    "Invented: both heads do the same here.",
    "Invented: the mask hides all other tokens from it.",
)
_WRITTEN = ("invented word", "another invented word", "a third invented word")
_TRIES = 30
HOURS = 3  # for which a rehearsal is kept, unless its teacher stops it
MOST_REHEARSALS = 100
_OVER = (
    f"This rehearsal no longer exists, because a rehearsal is deleted after {HOURS} hours or when the "
    "server restarts. Please start a new rehearsal from your class."
)


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
    """Choose which students answer correctly; return their numbers.

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


def invented_answer(question: Question, truth: Truth, chance: Random, *, is_right: bool) -> Any:
    """Invent an answer in the form that `attnviz.lessons.scoring` expects.

    If no wrong answer is found, because nearly every answer is right, the right one is returned.
    """
    if question.kind == TEXT:
        return chance.choice(TEXTS)
    if is_right:
        return truth.answer
    wrong = (_WRONG.get(question.kind, _other_text)(question, truth, chance) for _ in range(_TRIES))
    return next((given for given in wrong if not score_answer(question, given, truth).is_right), truth.answer)


def _other_cells(question: Question, truth: Truth, chance: Random) -> Any:
    """Choose random cells from the rows in question. Cells with more weight are more likely."""
    cells = {
        (row, col): weight + 0.02
        for row, weights in enumerate(truth.weights)
        for col, weight in enumerate(weights)
        if weight is not None
    }
    chosen: list[list[int]] = []
    for _ in range(question.most):
        (cell,) = chance.choices(list(cells), list(cells.values()))
        del cells[cell]
        chosen.append(list(cell))
    return sorted(chosen)


def _uneven_row(question: Question, truth: Truth, chance: Random) -> Any:
    """Return a random row with most of its weight on one key and a little on the others."""
    row = [round(0.3 * chance.random(), 2) for _ in truth.answer]
    row[chance.randrange(len(row))] = 1.0
    return row


def _other_head(question: Question, truth: Truth, chance: Random) -> Any:
    return list(chance.choice(question.heads))


def _number_off(question: Question, truth: Truth, chance: Random) -> Any:
    """Return a random number that is wrong by more than the question's tolerance; an integer if the right one is."""
    size = max(abs(truth.answer), question.within)
    off = max(size * chance.uniform(0.15, 0.9), 1.5 * question.within)
    off = max(chance.randint(1, 3), round(off)) if float(truth.answer).is_integer() else off
    below = truth.answer - off
    is_below = chance.random() < 0.5 and not below < 0 <= truth.answer  # a count below 0 is no plausible guess
    wrong = below if is_below else truth.answer + off
    return wrong if float(truth.answer).is_integer() else float(f"{wrong:.2g}")


def _other_option(question: Question, truth: Truth, chance: Random) -> Any:
    return chance.randrange(len(question.options))


def _other_text(question: Question, truth: Truth, chance: Random) -> Any:
    """Choose a random token or translation other than the right one."""
    return _other_option(question, truth, chance) if question.options else chance.choice(_WRITTEN)


_WRONG: dict[str, Callable[[Question, Truth, Random], Any]] = {
    CELL: _other_cells,
    ROW: _uneven_row,
    HEAD: _other_head,
    NUMBER: _number_off,
    CHOICE: _other_option,
}


ViewOf = Callable[[int], TeacherView]
_ALONE = (-1, "")  # the key in the place of a step and round while everybody walks alone


class Crowd:
    """Invented students in the class with a code. The code is the random seed of all that they do."""

    def __init__(self, students: Students, code: str, size: int) -> None:
        """Let `size` invented students join the class. Raises ClassroomError if the class refuses one."""
        self._students, self._code, self._size = students, code, size
        self._tokens = {number: students.join(code, f"Invented {number}").token for number in range(1, size + 1)}
        self._asked: dict[tuple[int, str], float] = {}  # when a question was first seen open
        self._done: set[tuple[object, ...]] = set()

    def act(self, now: TeacherView, seconds: float, view_of: ViewOf) -> None:
        """Let the students do everything that is due by the time `seconds` (since 1970).

        `now` is the teacher's view of the class, and `view_of(at)` returns the view of another step.
        """
        self._report_screens()
        if now.is_over:
            return
        if now.is_guided:
            self._answer_together(now, seconds)
        else:
            self._walk_alone(now, seconds, view_of)

    def _report_screens(self) -> None:
        """Report the screen of every student, and forget the students whom the teacher has removed."""
        for number, token in list(self._tokens.items()):
            try:
                self._students.heartbeat(token)
            except ClassGoneError:
                del self._tokens[number]

    def _answer_together(self, now: TeacherView, seconds: float) -> None:
        question = now.lesson.steps[now.at].question
        if question is None or now.state != OPEN:
            return
        since = seconds - self._asked.setdefault((now.at, now.round), seconds)
        found = turns(self._code, self._size, now.at, now.round)
        for turn in hinted_turns(found, since) if question.rungs else ():
            self._do_once(turn.student, ("hint", now.at), lambda token: self._students.hint(token, now.at))
        for turn in finished_turns(found, since):
            self._answer(now, turn)

    def _walk_alone(self, now: TeacherView, seconds: float, view_of: ViewOf) -> None:
        since = seconds - self._asked.setdefault(_ALONE, seconds)
        asks = [step.question is not None for step in now.lesson.steps]
        views: dict[int, TeacherView] = {}
        for walk in walks(self._code, self._size, asks, since):
            for at in walk.answered:
                if (walk.student, "answer", at, BEFORE) not in self._done:
                    turn = turns(self._code, self._size, at, BEFORE)[walk.student - 1]
                    self._answer(views.get(at) or views.setdefault(at, view_of(at)), turn)
            self._do_once(walk.student, ("at", walk.at), lambda token, at=walk.at: self._students.view(token, at))

    def _answer(self, view: TeacherView, turn: InventedTurn) -> None:
        at, in_round = view.at, view.round
        question, truth = view.lesson.questions[at], view.truth
        if truth is None:  # it cannot be computed: the teacher's page says so
            return
        chance = Random(f"{self._code} {turn.student} {at}")  # a student who is wrong again gives the same answer
        given = invented_answer(question, truth, chance, is_right=turn.is_right)
        self._do_once(
            turn.student,
            ("answer", at, in_round),
            lambda token: self._students.answer(token, at, given, in_round=in_round, client_id=f"{at} {in_round}"),
        )

    def _do_once(self, student: int, what: tuple[object, ...], do: Callable[[str], object]) -> None:
        """Let a student do something once. If the class refuses because it has moved on, the next call tries again."""
        token = self._tokens.get(student)
        if token is None or (student, *what) in self._done:
            return
        with suppress(ClassroomError):
            do(token)
            self._done.add((student, *what))


@dataclass(frozen=True)
class _Rehearsal:
    """A rehearsal of the class `of`. The thread that lets its students act holds the lock `acting`."""

    of: TeacherKey
    crowd: Crowd
    acting: threading.Lock = field(default_factory=threading.Lock)


class Rehearsals:
    """All rehearsals of this process. Methods raise ClassroomError for what they refuse."""

    def __init__(
        self, run: RunPicture, *, take_turn: TakeTurn = lambda: None, clock: Callable[[], float] = time.time
    ) -> None:
        """Open the database in memory. The arguments are those of `Classroom`."""
        self._room = Classroom(None, run, take_turn=take_turn, keep_days=HOURS / 24, clock=clock)
        self._clock, self._lock = clock, threading.Lock()
        self._known: OrderedDict[TeacherKey, _Rehearsal] = OrderedDict()
        self.teachers = self._room.teachers

    def start(self, of: TeacherKey, found: TeacherView, size: int, *, address: str = "") -> TeacherKey:
        """Start a rehearsal of the class `of`, whose teacher's view is `found`, with `size` invented students.

        The rehearsed class does not change. If there are more than `MOST_REHEARSALS`, the least recently used rehearsal
        is deleted.
        """
        if not 1 <= size <= MOST_STUDENTS:
            raise ClassroomError(f"A rehearsal has 1 to {MOST_STUDENTS} invented students, not {size}.")
        key = self.teachers.start(found.lesson, is_guided=found.is_guided, address=address)
        rehearsal = _Rehearsal(of, Crowd(self._room.students, key.code, size))
        with self._lock:
            self._known[key] = rehearsal
            oldest = next(iter(self._known)) if len(self._known) > MOST_REHEARSALS else None
        if oldest is not None:
            with suppress(ClassGoneError):  # two that start at once may find the same one
                self.stop(oldest)
        return key

    def stop(self, key: TeacherKey) -> TeacherKey:
        """Delete a rehearsal, and return the key of the rehearsed class.

        Raises ClassGoneError if it no longer exists.
        """
        with self._lock:
            rehearsal = self._known.pop(key, None)
        if rehearsal is None:
            raise ClassGoneError(_OVER)
        with suppress(ClassGoneError):  # its time is over
            self.teachers.purge(key)
        return rehearsal.of

    def catch_up(self, key: TeacherKey) -> None:
        """Let the invented students do everything that is due by now. Call this before reading a teacher's view."""
        with self._lock:
            rehearsal = self._known.get(key)
            if rehearsal is None:
                raise ClassGoneError(_OVER)
            self._known.move_to_end(key)
        if not rehearsal.acting.acquire(blocking=False):
            return
        try:
            now = self.teachers.view(key)
            rehearsal.crowd.act(now, self._clock(), lambda at: self.teachers.view(key, at))
        except ClassGoneError:
            raise ClassGoneError(_OVER) from None
        finally:
            rehearsal.acting.release()

    def close(self) -> None:
        """Delete all rehearsals."""
        self._room.close()
