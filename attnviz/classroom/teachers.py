"""What the teacher of a class does. The secret of the link is the teacher; the database has its hash alone."""

import json
from collections.abc import Callable, Iterable

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from attnviz.classroom.codes import hashed, new_code, new_token
from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.lookup import NO_LINK, class_taught, step_of
from attnviz.classroom.material import packed, single, unpacked
from attnviz.classroom.parts import ClassroomParts
from attnviz.classroom.state import AFTER, CLOSED, OPEN, REVEALED, ClassVersion, TeacherKey, TeacherView
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, ClassStepRow, HintRow, MemberRow
from attnviz.classroom.summary import Answered
from attnviz.classroom.table_file import table_file
from attnviz.classroom.teacher_view import TeacherRows, teacher_view
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.question import Question

MOST_CLASSES = 10_000
_DAY = 86_400  # seconds
_SHOWN = "What is right has been shown at this step: nobody can answer it any more."


class Teachers:
    """The teachers' side of all classes. Every refusal is a ClassroomError."""

    def __init__(self, parts: ClassroomParts) -> None:
        self._parts = parts
        self._ids: dict[TeacherKey, int] = {}

    def start(self, lesson: Lesson, *, is_guided: bool = True, address: str = "") -> TeacherKey:
        """A new class on a lesson; its first step is closed. `address` is whence it is asked for."""
        self._parts.fair.start(address)
        material = packed(lesson)
        while True:
            key = TeacherKey(new_code(), new_token())
            try:
                self._parts.store.write(lambda session, key=key: self._begin(session, key, material, is_guided))
            except IntegrityError:  # another class has this code
                continue
            return key

    def ask_the_room(self, question: Question, link: Link | None, *, address: str = "") -> TeacherKey:
        """A new class on a single question about the picture that a link shows."""
        return self.start(single(question, link), address=address)

    def version(self, key: TeacherKey) -> ClassVersion:
        """Whether there is news of a class: cheap, to be asked once a second."""
        if key not in self._ids:
            found = self._parts.store.read(lambda session: class_taught(session, key, self._parts.clock()).id)
            self._ids = {**self._ids, key: found} if len(self._ids) < MOST_CLASSES else {key: found}
        version = self._parts.news.of(self._ids[key])
        if version is None:
            self._ids = {other: found for other, found in self._ids.items() if other != key}
            raise ClassGoneError(NO_LINK)
        return version

    def taught_by(self, key: TeacherKey, at: int | None = None) -> TeacherView:
        """What the teacher may see; of step `at`, or of that which the class is at."""

        def found(session: Session) -> TeacherRows:
            row = class_taught(session, key, self._parts.clock())
            lesson = unpacked(row.material)
            here = row.step if at is None else min(max(at, 0), len(lesson.steps) - 1)
            members = session.scalars(select(MemberRow).where(MemberRow.class_id == row.id).order_by(MemberRow.id))
            asked = select(AnswerRow).where(AnswerRow.class_id == row.id, AnswerRow.step == here)
            answers = session.scalars(asked.order_by(AnswerRow.id))
            hints = select(func.count(HintRow.rungs)).join(MemberRow, HintRow.member_id == MemberRow.id)
            hinted = session.scalars(hints.where(MemberRow.class_id == row.id, HintRow.step == here)).one()
            return TeacherRows(row, lesson, step_of(session, row, here), tuple(members), tuple(answers), hinted)

        return teacher_view(self._parts.store.read(found), self._parts.truths, self._parts.clock())

    def go(self, key: TeacherKey, at: int) -> None:
        """The class goes to a step, which is open from then on unless it was closed or revealed before."""

        def change(session: Session, row: ClassRow) -> None:
            steps = len(unpacked(row.material).steps)
            if not 0 <= at < steps:
                raise ClassroomError(f"There is no step {at + 1}: this lesson has steps 1 to {steps}.")
            row.step = at
            if session.get(ClassStepRow, (row.id, at)) is None:
                _kept(session, row).state = OPEN

        self._change(key, change)

    def open(self, key: TeacherKey) -> None:
        """The class's step takes answers. Refused once it is revealed."""
        self._change(key, lambda session, row: _set_state(_unrevealed(session, row), OPEN))

    def close(self, key: TeacherKey) -> None:
        """The class's step takes no answers."""
        self._change(key, lambda session, row: _set_state(_unrevealed(session, row), CLOSED))

    def ask_again(self, key: TeacherKey) -> None:
        """A second round: the step is open once more, after the explanation. Refused once it is revealed."""

        def change(session: Session, row: ClassRow) -> None:
            step = _unrevealed(session, row)
            step.round, step.state = AFTER, OPEN

        self._change(key, change)

    def reveal(self, key: TeacherKey) -> None:
        """Everybody sees what is right."""
        self._change(key, lambda session, row: _set_state(_kept(session, row), REVEALED))

    def guide(self, key: TeacherKey, *, is_guided: bool) -> None:
        """Walk together, or let everybody walk alone and see what is right after each own answer."""

        def change(session: Session, row: ClassRow) -> None:
            row.is_guided = is_guided

        self._change(key, change)

    def remove(self, key: TeacherKey, member: int) -> None:
        """Remove a member with their answers, as for a nickname that nobody wants to see."""

        def change(session: Session, row: ClassRow) -> None:
            session.execute(delete(MemberRow).where(MemberRow.class_id == row.id, MemberRow.id == member))

        self._change(key, change)
        self._parts.store.forget_deleted()

    def end(self, key: TeacherKey) -> None:
        """No more answers and members; what there is can be seen until it expires."""

        def change(session: Session, row: ClassRow) -> None:
            row.is_over = True

        self._change(key, change)

    def csv(self, key: TeacherKey) -> bytes:
        """Every answer as a line, UTF-8; no cell is read as a formula by a spreadsheet."""

        def found(session: Session) -> tuple[Lesson, Iterable]:
            row = class_taught(session, key, self._parts.clock())
            asked = select(MemberRow.nickname, AnswerRow, func.coalesce(HintRow.rungs, 0))
            asked = asked.join(AnswerRow, AnswerRow.member_id == MemberRow.id)
            of_hint = (HintRow.member_id == MemberRow.id) & (HintRow.step == AnswerRow.step)
            asked = asked.outerjoin(HintRow, of_hint)
            ordered = asked.where(AnswerRow.class_id == row.id).order_by(AnswerRow.step, AnswerRow.saved, AnswerRow.id)
            return unpacked(row.material), [tuple(line) for line in session.execute(ordered)]

        lesson, lines = self._parts.store.read(found)
        return table_file(lesson, (_told(*line) for line in lines))

    def purge(self, key: TeacherKey) -> None:
        """Delete the class, its members and answers, now."""

        def forget(session: Session) -> int:
            row = class_taught(session, key, self._parts.clock(), lock=True)
            session.execute(delete(ClassRow).where(ClassRow.id == row.id))
            return row.id

        self._parts.news.forget(self._parts.store.write(forget))
        self._parts.store.forget_deleted()

    def _begin(self, session: Session, key: TeacherKey, material: str, is_guided: bool) -> None:
        if session.scalars(select(func.count(ClassRow.id))).one() >= MOST_CLASSES:
            raise ClassroomError(f"{MOST_CLASSES:,} classes are stored here, as many as there can be.")
        now = self._parts.clock()
        session.add(
            ClassRow(
                code=key.code, teacher=hashed(key.secret), material=material, is_guided=is_guided, is_over=False,
                step=0, shared=0, news=0, created=now, expires=now + self._parts.keep_days * _DAY,
            )
        )  # fmt: skip

    def _change(self, key: TeacherKey, change: Callable[[Session, ClassRow], None]) -> None:
        """Change what students see."""

        def work(session: Session) -> int:
            row = class_taught(session, key, self._parts.clock(), lock=True)
            change(session, row)
            row.shared += 1
            return row.id

        self._parts.news.forget(self._parts.store.write(work))


def _kept(session: Session, row: ClassRow) -> ClassStepRow:
    """The row of the step that the class is at."""
    step = step_of(session, row, row.step)
    session.add(step)
    return step


def _unrevealed(session: Session, row: ClassRow) -> ClassStepRow:
    step = _kept(session, row)
    if step.state == REVEALED:
        raise ClassroomError(_SHOWN)
    return step


def _set_state(step: ClassStepRow, state: str) -> None:
    step.state = state


def _told(nickname: str, answer: AnswerRow, rungs: int) -> tuple:
    given = json.loads(answer.given)
    is_right = Answered(nickname, given, answer.score).is_right
    return nickname, answer.step, answer.round, given, answer.score, is_right, rungs, answer.saved
