"""Saving a student's answer: one row even if it is sent twice, updated in place while its step takes answers."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.lookup import Standing, answers_of, step_of, step_standing
from attnviz.classroom.state import OPEN, REVEALED
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, MemberRow
from attnviz.lessons.phrases import Translatable

_REMEMBERED = 50  # former client ids of an answer: one that is sent again comes soon


def encode_answer(given: Any) -> str:
    """Encode an answer as the JSON that the database stores."""
    return json.dumps(given, ensure_ascii=True, allow_nan=False)


_SKIPPED = encode_answer(None)


def save_answer(
    session: Session, member: MemberRow, row: ClassRow, answer: AnswerRow, now: float
) -> tuple[AnswerRow, bool]:
    """Save `answer`, or update the member's earlier answer with it.

    Return the row that is in the database now, and whether this call wrote it. The caller has locked the class's row.
    If the client id is that of the saved answer, or of an answer that it replaced, nothing changes.
    """
    answers = answers_of(session, member, answer.step)
    there = answers.get(answer.round)
    if there is not None and answer.client_id in _ids(there):
        return there, False
    _require_open(row, answer, answers, step_standing(row, step_of(session, row, answer.step), answers))
    if there is None:
        there = AnswerRow(
            class_id=row.id, member_id=member.id, step=answer.step, round=answer.round, is_picked=False, former_ids="[]"
        )
        session.add(there)
    else:
        there.former_ids = encode_answer(_ids(there)[-_REMEMBERED:])
        there.is_picked = there.is_picked and there.given == answer.given
    there.given, there.score, there.client_id = answer.given, answer.score, answer.client_id
    there.saved, there.is_final = now, not row.is_guided  # a student who walks alone sees the right answer now
    return there, True


def _ids(there: AnswerRow) -> list[str]:
    return [*json.loads(there.former_ids), there.client_id]


def _require_open(row: ClassRow, answer: AnswerRow, answers: Mapping[str, AnswerRow], stands: Standing) -> None:
    there = answers.get(answer.round)
    had = there is not None and there.given != _SKIPPED
    if row.is_over:
        raise ClassroomError(_late_refusal(Translatable("This class has ended: it takes no more answers."), had))
    if row.is_guided and answer.given == _SKIPPED:
        raise ClassroomError(Translatable("Your teacher shows the right answer when everybody has answered."))
    if row.is_guided and row.step != answer.step:
        raise ClassroomError(
            _late_refusal(Translatable("Your class has gone on to another step: this answer came too late."), had)
        )
    if stands.state == REVEALED or (there is not None and there.is_final):
        raise ClassroomError(
            _late_refusal(Translatable("The right answer has been shown: this answer came too late."), had)
        )
    if stands.state != OPEN:
        raise ClassroomError(
            _late_refusal(
                Translatable("This step takes no answers at the moment: wait for your teacher to open it."), had
            )
        )
    if stands.round != answer.round:
        raise ClassroomError(
            Translatable("The question has been asked again meanwhile: look at it once more, then answer.")
        )


def _late_refusal(refusal: str, has_earlier: bool) -> str:
    """Return a refusal; if there is an earlier answer, add a sentence that says it counts."""
    return Translatable("{refusal} Your earlier answer counts.", refusal=refusal) if has_earlier else refusal
