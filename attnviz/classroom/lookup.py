"""Look-up of rows by code or secret. A change locks its class's row first, so that changes do not overlap."""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from attnviz.classroom.codes import format_code, hash_token, is_rehearsal, is_token_of, read_code
from attnviz.classroom.errors import ClassGoneError
from attnviz.classroom.state import BEFORE, CLOSED, OPEN, REVEALED, TeacherKey
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, ClassStepRow, HintRow, MemberRow
from attnviz.lessons.phrases import Translatable

NO_LINK = "There is no class at this link, or it has been deleted. Please start a new one."
NO_REHEARSAL = Translatable(
    "This is the code of a rehearsal, whose students are invented: nobody else can join it. Ask your teacher for the "
    "code of the class."
)
NO_MEMBER = Translatable("This class is over and deleted, or you were removed from it. Please join again with a code.")


def class_by_code(session: Session, code: str, now: float, *, lock: bool = False) -> ClassRow:
    """Find the class with this code. Raises ClassGoneError if there is none."""
    row = _class(session, code, now, lock=lock)
    if row is None and is_rehearsal(code):
        raise ClassGoneError(NO_REHEARSAL)
    if row is None:
        raise ClassGoneError(
            Translatable(
                "There is no class with the code {code}. Please check it, or ask your teacher for it.",
                code=format_code(code),
            )
        )
    return row


def class_by_key(session: Session, key: TeacherKey, now: float, *, lock: bool = False) -> ClassRow:
    """Find the class of a teacher's link.

    Raises ClassGoneError with the same message if the class does not exist and if the secret is wrong.
    """
    row = _class(session, read_code(key.code), now, lock=lock)
    if not is_token_of(key.secret, row.teacher if row else bytes(32)) or row is None:
        raise ClassGoneError(NO_LINK)
    return row


def member_by_token(session: Session, token: str, now: float, *, lock: bool = False) -> tuple[MemberRow, ClassRow]:
    """Find a member by their token, and the member's class. Raises ClassGoneError if either is missing."""
    member = session.scalar(select(MemberRow).where(MemberRow.token == hash_token(token)))
    row = session.get(ClassRow, member.class_id, with_for_update=lock or None) if member else None
    if member is None or row is None or row.expires <= now:
        raise ClassGoneError(NO_MEMBER)
    return member, row


def step_of(session: Session, row: ClassRow, at: int) -> ClassStepRow:
    """Return the row of a class's step; a new row, not yet in the session, if the class has not visited the step."""
    found = session.get(ClassStepRow, (row.id, at))
    state = CLOSED if row.is_guided else OPEN
    return found or ClassStepRow(class_id=row.id, step=at, state=state, round=BEFORE)


def answers_of(session: Session, member: MemberRow, at: int) -> dict[str, AnswerRow]:
    """Return a member's answers to a step, by round."""
    asked = select(AnswerRow).where(AnswerRow.member_id == member.id, AnswerRow.step == at)
    return {answer.round: answer for answer in session.scalars(asked)}


def rungs_of(session: Session, member: MemberRow, at: int) -> int:
    """Return the number of hints of a step that a member has opened."""
    found = session.get(HintRow, (member.id, at))
    return found.rungs if found else 0


def _class(session: Session, code: str, now: float, *, lock: bool) -> ClassRow | None:
    asked = select(ClassRow).where(ClassRow.code == code, ClassRow.expires > now)
    return session.scalar(asked.with_for_update() if lock else asked)


class Standing(NamedTuple):
    """The state (open, closed or revealed) and the round of a step, as they apply to one member."""

    state: str
    round: str


def step_standing(row: ClassRow, step: ClassStepRow, answers: Mapping[str, AnswerRow]) -> Standing:
    """Return the state of a step for a member.

    In a guided class the teacher sets the state. If students work alone, the step is open until the member's own answer
    reveals the right one.
    """
    if row.is_guided:
        state, in_round = step.state, step.round
    else:
        is_shown = step.state == REVEALED or BEFORE in answers
        state, in_round = REVEALED if is_shown else OPEN, BEFORE
    return Standing(CLOSED if row.is_over and state == OPEN else state, in_round)
