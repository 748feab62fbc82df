"""A student's view, made from database rows. Before the reveal nothing in it gives the answer away."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.lookup import Standing
from attnviz.classroom.material import strip_answer, strip_target
from attnviz.classroom.state import BEFORE, REVEALED, MemberView
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, MemberRow
from attnviz.classroom.truths import Truths
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.phrases import sentence
from attnviz.lessons.scoring import AnswerScore, Truth, score_answer


class MemberRows(NamedTuple):
    """The rows of a class and a member, with the member's answers by round and number of opened hints at one step."""

    row: ClassRow
    member: MemberRow
    answers: Mapping[str, AnswerRow]
    rungs: int


def member_view(rows: MemberRows, lesson: Lesson, at: int, stands: Standing, truths: Truths) -> MemberView:
    """Make a student's view of step `at`."""
    row, member, answers, rungs = rows
    step, own = lesson.steps[at], answers.get(stands.round)
    is_revealed = stands.state == REVEALED
    given = _decode_given(own)
    truth, problem = _truth(row, lesson, at, truths) if is_revealed else (None, "")
    bare = step if is_revealed else strip_answer(step, rungs)
    return MemberView(
        code=row.code,
        title=lesson.title,
        language=lesson.language,
        nickname=member.nickname,
        steps=len(lesson.steps),
        at=at,
        step=bare,
        link=lesson.picture(at) if is_revealed else _link(lesson, at),
        is_guided=row.is_guided,
        is_over=row.is_over,
        state=stands.state,
        round=stands.round,
        given=given,
        first=_decode_given(answers.get(BEFORE)),
        has_answered=own is not None,
        is_final=own is not None and own.is_final,
        is_skipped=own is not None and given is None,
        is_revealed=is_revealed,
        truth=truth,
        marked=_mark(lesson, at, given, truth),
        problem=problem,
        expires=row.expires,
        rungs=rungs,
        most_rungs=step.question.rungs if step.question else 0,
        ends=row.ends,
    )


def _decode_given(answer: AnswerRow | None) -> Any:
    return json.loads(answer.given) if answer else None


def _link(lesson: Lesson, at: int) -> Link | None:
    return strip_target(lesson.picture(at), lesson.steps[at].question)


def _truth(row: ClassRow, lesson: Lesson, at: int, truths: Truths) -> tuple[Truth | None, str]:
    if lesson.steps[at].question is None:
        return None, ""
    try:
        return truths.answer(row.code, lesson, at), ""
    except ClassroomError as error:
        return None, sentence(error)


def _mark(lesson: Lesson, at: int, given: Any, truth: Truth | None) -> AnswerScore | None:
    question = lesson.steps[at].question
    if question is None or given is None or truth is None:
        return None
    try:
        return score_answer(question, given, truth)
    except ValueError:  # the model was replaced by one that cuts the sentence otherwise
        return None
