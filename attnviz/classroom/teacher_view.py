"""What a teacher is shown, made of rows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.presence import AWAY_AFTER
from attnviz.classroom.state import AFTER, BEFORE, ROUNDS, BothRounds, MemberLine, RoundSummary, TeacherView
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, ClassStepRow, MemberRow
from attnviz.classroom.summary import Answered, both_rounds, summary
from attnviz.classroom.truths import Truths
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.scoring import Truth


@dataclass(frozen=True)
class TeacherRows:
    """A class, one of its steps, its members, and their answers to that step in order of time, and how many of
    them have opened a hint to it.
    """

    row: ClassRow
    lesson: Lesson
    step: ClassStepRow
    members: tuple[MemberRow, ...]
    answers: tuple[AnswerRow, ...]
    hinted: int


def teacher_view(rows: TeacherRows, truths: Truths, now: float) -> TeacherView:
    """The view at that time."""
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
        both=_both(rows.answers),
        ends=row.ends,
    )


def _truth(rows: TeacherRows, truths: Truths) -> tuple[Truth | None, str]:
    if rows.lesson.steps[rows.step.step].question is None:
        return None, ""
    try:
        return truths.of(rows.row.code, rows.lesson, rows.step.step), ""
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


def _both(answers: tuple[AnswerRow, ...]) -> BothRounds | None:
    first, second = (
        {answer.member_id: answer.score for answer in answers if answer.round == round_} for round_ in (BEFORE, AFTER)
    )
    return both_rounds(first, second)
