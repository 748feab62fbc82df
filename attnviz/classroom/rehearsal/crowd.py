"""The invented students of a rehearsal. They join, answer and open hints as real students would, over time."""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.rehearsal.pace import InventedTurn, finished_turns, hinted_turns, turns, walks
from attnviz.classroom.state import BEFORE, OPEN, TeacherView
from attnviz.classroom.students import Students
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, Question
from attnviz.lessons.scoring import Truth, score_answer

TEXTS = (
    "Invented: because the model has met this sentence often.",
    "Invented: it looks at the word that it needs next.",
    "Invented: I would say that the verb decides.",
    "Invented: I am not sure, perhaps the end of the sentence.",
    "Invented: both heads do the same here.",
    "Invented: the mask leaves it no other choice.",
)
_WRITTEN = ("invented word", "another invented word", "a third invented word")
_TRIES = 30


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
