"""Views that pages of a class receive. Times are seconds since 1970 in UTC; steps count from 0."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from attnviz.classroom.codes import is_rehearsal
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.scoring import AnswerScore, Truth

OPEN, CLOSED, REVEALED = "open", "closed", "revealed"  # a step's states
BEFORE, AFTER = "before", "after"  # the rounds of a step: the first and the second
ROUNDS = (BEFORE, AFTER)


@dataclass(frozen=True)
class TeacherKey:
    """The contents of a teacher's link. `secret` is the teacher's alone; the database has its hash only."""

    code: str
    secret: str


class ClassVersion(NamedTuple):
    """Counters of a class. `shared` counts what its students are shown, `news` everything else that its teacher is
    shown; `here` is how many members are connected.
    """

    shared: int
    news: int
    here: int


@dataclass(frozen=True)
class Joined:
    """A new member: `token` is theirs alone, and brings them back from any tab; `nickname` is as it was saved."""

    token: str
    nickname: str
    code: str


@dataclass(frozen=True)
class Receipt:
    """An answer that is saved. `given` is what stands in the database; `is_new` is False for an answer that was
    saved before, by a call whose receipt was lost on the way, and may have been changed since.
    """

    at: int
    round: str
    given: Any
    saved: float
    is_new: bool


@dataclass(frozen=True)
class MemberView:
    """A student's view of one step.

    `step` is without what tells the answer until `is_revealed`: the question has no `right`, `measure` and `why`, its
    options have no ranges. `link` is the step's picture, without its target while `question.cover` is "page". `given`
    is the student's own answer of this round, `first` that of the first round; after a given answer that `is_final`,
    the student saw the right answer. `truth` and `marked` (this round's score) are None until the reveal, and where
    the model cannot run: `problem` then says why. In a class that `is_guided` the teacher chooses `at`; otherwise the
    student does.
    `ends` is when the teacher's timer is at 0, None without one.
    """

    code: str
    title: str
    language: str
    nickname: str
    steps: int
    at: int
    step: LessonStep
    link: Link | None
    is_guided: bool
    is_over: bool
    state: str
    round: str
    given: Any
    first: Any
    has_answered: bool
    is_final: bool
    is_skipped: bool
    is_revealed: bool
    truth: Truth | None
    marked: AnswerScore | None
    problem: str
    expires: float
    rungs: int
    most_rungs: int
    ends: float | None

    @property
    def may_ask_hint(self) -> bool:
        """Whether a hint is left to be opened, which is before the first answer."""
        return self.may_answer and not self.has_answered and self.rungs < self.most_rungs

    @property
    def may_answer(self) -> bool:
        """Whether an answer would be taken now, a first or a changed one."""
        is_asked = self.step.question is not None and self.state == OPEN
        return is_asked and not (self.is_final or self.is_revealed or self.is_over)


@dataclass(frozen=True)
class MemberLine:
    """A member as the teacher sees them. `at` is the step that their screen shows, `answered` the rounds of the
    teacher's step that they have answered; `is_here` says that their screen reported in the last half minute.
    """

    id: int
    nickname: str
    at: int
    joined: float
    seen: float
    is_here: bool
    answered: tuple[str, ...]


class WrittenText(NamedTuple):
    """A text that a member wrote, without its author. It may hold anything: draw it as text. Only one that the
    teacher picked may be shown to the class.
    """

    id: int
    text: str
    is_picked: bool = False


class BothRounds(NamedTuple):
    """Of the members whose answer was scored in both rounds: how many they are, and how many were right in each."""

    members: int
    first: int
    second: int


@dataclass(frozen=True)
class RoundSummary:
    """All answers of one step in one round. Which of the last six is filled depends on the question's kind.

    `right` of `scored` answers are right, `mean_score` is from 0 to 1. `cells` counts how many chose a cell (row,
    column), `row` is the mean of the distributions that were drawn, `options` counts for each option, `heads` for each
    head, `numbers` holds every number, `texts` every text in order of time.
    """

    answered: int = 0
    skipped: int = 0
    scored: int = 0
    right: int = 0
    mean_score: float | None = None
    cells: Mapping[tuple[int, int], int] | None = None
    row: tuple[float, ...] = ()
    options: tuple[int, ...] = ()
    heads: Mapping[tuple[int, int], int] | None = None
    numbers: tuple[float, ...] = ()
    texts: tuple[WrittenText, ...] = ()

    @property
    def share_right(self) -> float | None:
        """The share of right answers, from 0 to 1; None where nothing was scored."""
        return self.right / self.scored if self.scored else None


@dataclass(frozen=True)
class TeacherView:
    """All that the teacher may see, of the class and of one step: the class's own, or any other that they look at.

    `state` and `round` are those of step `at`; `class_at` is where the class is. `truth` is None for a step without a
    question, and where it cannot be computed, which `problem` says in one sentence. `hinted` is how many members have
    opened a hint to the step. `both` is None before two rounds have a scored answer of the same member. `ends` is when
    the timer of the class's question is at 0, None without one.
    """

    code: str
    lesson: Lesson
    is_guided: bool
    is_over: bool
    is_anonymous: bool
    created: float
    expires: float
    class_at: int
    at: int
    state: str
    round: str
    members: tuple[MemberLine, ...]
    summaries: Mapping[str, RoundSummary]
    truth: Truth | None
    problem: str
    hinted: int
    both: BothRounds | None
    ends: float | None

    @property
    def is_rehearsal(self) -> bool:
        """Whether all members and answers are invented."""
        return is_rehearsal(self.code)
