"""A teacher's view, made from database rows."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.presence import AWAY_AFTER
from attnviz.classroom.state import (
    AFTER,
    BEFORE,
    ROUNDS,
    BothRounds,
    MemberLine,
    RoundSummary,
    TeacherView,
    WrittenText,
)
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, ClassStepRow, MemberRow
from attnviz.classroom.truths import Truths
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.question import CELL, HEAD, NUMBER, ROW, Question
from attnviz.lessons.scoring import AnswerScore, Truth, normalise


@dataclass(frozen=True)
class TeacherRows:
    """The rows of a class and one of its steps.

    These are its members, their answers to that step in order of time, and the number of members who have opened a hint
    there.
    """

    row: ClassRow
    lesson: Lesson
    step: ClassStepRow
    members: tuple[MemberRow, ...]
    answers: tuple[AnswerRow, ...]
    hinted: int


def teacher_view(rows: TeacherRows, truths: Truths, now: float) -> TeacherView:
    """Make the teacher's view at the time `now`, in seconds since 1970."""
    row, step = rows.row, rows.step
    truth, problem = _truth(rows, truths)
    return TeacherView(
        code=row.code,
        lesson=rows.lesson,
        is_guided=row.is_guided,
        is_over=row.is_over,
        is_anonymous=row.is_anonymous,
        created=row.created,
        expires=row.expires,
        class_at=row.step,
        at=step.step,
        state=step.state,
        round=step.round,
        members=tuple(_line(member, rows.answers, now) for member in rows.members),
        summaries=_summaries(rows),
        truth=truth,
        problem=problem,
        hinted=rows.hinted,
        both=_both_rounds(rows.answers),
        ends=row.ends,
    )


def _truth(rows: TeacherRows, truths: Truths) -> tuple[Truth | None, str]:
    if rows.lesson.steps[rows.step.step].question is None:
        return None, ""
    try:
        return truths.answer(rows.row.code, rows.lesson, rows.step.step), ""
    except ClassroomError as error:
        return None, str(error)


def _line(member: MemberRow, answers: tuple[AnswerRow, ...], now: float) -> MemberLine:
    rounds = tuple(answer.round for answer in answers if answer.member_id == member.id)
    is_here = member.seen > now - AWAY_AFTER
    return MemberLine(member.id, member.nickname, member.step, member.joined, member.seen, is_here, rounds)


def _summaries(rows: TeacherRows) -> Mapping[str, RoundSummary]:
    question = rows.lesson.steps[rows.step.step].question
    if question is None:
        return {}
    found = {
        round_: [
            Answered(answer.id, json.loads(answer.given), answer.score, answer.is_picked)
            for answer in rows.answers
            if answer.round == round_
        ]
        for round_ in ROUNDS
    }
    return {round_: summary(question, answers) for round_, answers in found.items() if answers}


def _both_rounds(answers: tuple[AnswerRow, ...]) -> BothRounds | None:
    first, second = (
        {answer.member_id: answer.score for answer in answers if answer.round == round_} for round_ in (BEFORE, AFTER)
    )
    return both_rounds(first, second)


@dataclass(frozen=True)
class Answered:
    """One answer: its id, `given` (None if skipped), its score (None if not scored), and whether the class may
    see it.
    """

    id: int
    given: Any
    score: float | None
    is_picked: bool = False

    @property
    def is_right(self) -> bool:
        """Whether the answer counts as right, by the same rule as in a lesson."""
        return AnswerScore(self.score).is_right


def summary(question: Question, answers: Sequence[Answered]) -> RoundSummary:
    """Summarize the answers of one round."""
    given = [one for one in answers if one.given is not None]
    scores = [one.score for one in given if one.score is not None]
    counts = {
        "answered": len(given),
        "skipped": len(answers) - len(given),
        "scored": len(scores),
        "right": sum(one.is_right for one in given),
        "mean_score": sum(scores) / len(scores) if scores else None,
    }
    return RoundSummary(**counts, **_summarize_kind(question, given))


def both_rounds(first: Mapping[int, float | None], second: Mapping[int, float | None]) -> BothRounds | None:
    """Compare the scores of both rounds over the members who have one in each; None without such members."""
    pairs = [(first[id_], second[id_]) for id_ in first.keys() & second.keys()]
    scores = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not scores:
        return None
    right = [(AnswerScore(one).is_right, AnswerScore(other).is_right) for one, other in scores]
    return BothRounds(len(scores), sum(one for one, _ in right), sum(other for _, other in right))


def _summarize_kind(question: Question, given: Sequence[Answered]) -> dict[str, Any]:
    values = [one.given for one in given]
    if question.kind == CELL:
        return {"cells": Counter((row, col) for cells in values for row, col in cells)}
    if question.kind == ROW:
        return {"row": _mean([normalise(row) for row in values])}
    if question.kind == HEAD:
        return {"heads": Counter((layer, head) for layer, head in values)}
    if question.kind == NUMBER:
        return {"numbers": tuple(values)}
    if question.options:
        counts = Counter(values)
        return {"options": tuple(counts[at] for at in range(len(question.options)))}
    return {"texts": tuple(WrittenText(one.id, str(one.given), one.is_picked) for one in given)}


def _mean(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean of drawn distributions.

    After an upgrade the model may tokenize the sentence differently, so only rows of the most frequent length count.
    """
    if not rows:
        return ()
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    counted = [row for row in rows if len(row) == usual]
    return tuple(sum(column) / len(counted) for column in zip(*counted, strict=True))
