"""The data that pages of a class receive. Times are in seconds since 1970 (UTC); steps count from 0."""

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
    """The contents of a teacher's link. Only the teacher has the `secret`; the database has its hash."""

    code: str
    secret: str


class ClassVersion(NamedTuple):
    """Counters of a class.

    `shared` counts changes that students can see, `news` other changes that the teacher can see, and `here` the
    connected members.
    """

    shared: int
    news: int
    here: int


@dataclass(frozen=True)
class Joined:
    """A new member. Only the member has the `token`, with which any tab opens the seat; `nickname` is the saved one."""

    token: str
    nickname: str
    code: str


@dataclass(frozen=True)
class Receipt:
    """The receipt for a saved answer.

    `given` is the answer in the database. `is_new` is False if an earlier call, whose receipt was lost, has already
    saved the answer; it may have been changed since.
    """

    at: int
    round: str
    given: Any
    saved: float
    is_new: bool


@dataclass(frozen=True)
class MemberView:
    """A student's view of one step.

    Until `is_revealed`, nothing in `step` gives the answer away: the question has no `right`, `measure` and `why`, and
    its options have no ranges. `link` is the step's picture, without its target while `question.cover` is "page".
    `given` is the student's answer in this round, and `first` the one in the first round. `is_final` means that the
    student has seen the right answer after answering, so the answer can no longer change. `truth` and `marked` (this
    round's score) are None until the reveal, and if the model cannot run; `problem` then says why. If the class
    `is_guided`, the teacher chooses the step `at`; otherwise the student does. `ends` is the time at which the
    teacher's timer ends, or None.
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
        """Whether the student may open another hint, which is possible only before the first answer."""
        return self.may_answer and not self.has_answered and self.rungs < self.most_rungs

    @property
    def may_answer(self) -> bool:
        """Whether the class would accept a first or a changed answer now."""
        is_asked = self.step.question is not None and self.state == OPEN
        return is_asked and not (self.is_final or self.is_revealed or self.is_over)


@dataclass(frozen=True)
class MemberLine:
    """A member in the teacher's list.

    `at` is the step that the member's screen shows, and `answered` has the rounds of the teacher's step that the member
    has answered. `is_here` is True if the member's screen has reported within the last half minute.
    """

    id: int
    nickname: str
    at: int
    joined: float
    seen: float
    is_here: bool
    answered: tuple[str, ...]


class WrittenText(NamedTuple):
    """A text that a member wrote, without the author's name.

    It may contain anything, so draw it as plain text. The class may see it only if the teacher has picked it.
    """

    id: int
    text: str
    is_picked: bool = False


class BothRounds(NamedTuple):
    """The number of members whose answers were scored in both rounds, and how many of them were right in each."""

    members: int
    first: int
    second: int


@dataclass(frozen=True)
class RoundSummary:
    """Summary of all answers to one step in one round.

    `right` of the `scored` answers are right; `mean_score` is from 0 to 1. The question's kind decides which of the
    other fields is set: `cells` has the number of members who chose a cell (row, column), `row` the mean of the drawn
    distributions, `options` and `heads` the counts per option and per head, `numbers` all numbers, and `texts` all
    texts in order of time.
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
        """The share of right answers, from 0 to 1; None if no answer was scored."""
        return self.right / self.scored if self.scored else None


@dataclass(frozen=True)
class TeacherView:
    """What the teacher may see about the class and about the step `at`, which need not be the class's current step.

    `state` and `round` are those of step `at`; `class_at` is the class's current step. `truth` is None for a step
    without a question, and if it cannot be computed; `problem` then says why. `hinted` is the number of members who
    have opened a hint at the step. `both` is None unless a member has scored answers in both rounds. `ends` is the time
    at which the timer of the class's question ends, or None.
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
