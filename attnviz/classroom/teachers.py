"""The functions of a class for its teacher, who is identified by the link's secret. The database has only its hash."""

from collections.abc import Callable

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from attnviz.classroom.codes import hash_token, new_code, new_token
from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.lookup import NO_LINK, class_by_key, step_of
from attnviz.classroom.material import pack_lesson, single_question_lesson, unpack_lesson
from attnviz.classroom.parts import ClassroomParts
from attnviz.classroom.state import AFTER, CLOSED, OPEN, REVEALED, ClassVersion, TeacherKey, TeacherView
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, ClassStepRow, HintRow, MemberRow
from attnviz.classroom.table_file import AnswerLine, answers_file, axis_texts, grades_file, read_lines
from attnviz.classroom.teacher_view import TeacherRows, teacher_view
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.question import CELL, ROW, TEXT, Question

MOST_CLASSES = 10_000
_DAY = 86_400  # seconds
_SHOWN = "The right answer to this step has been shown: nobody can answer it any more."


class Teachers:
    """The functions of all classes for teachers. They raise ClassroomError for what they refuse."""

    def __init__(self, parts: ClassroomParts) -> None:
        self._parts = parts
        self._ids: dict[TeacherKey, int] = {}

    def start(self, lesson: Lesson, *, is_guided: bool = True, address: str = "") -> TeacherKey:
        """Start a class on a lesson; its first step is closed. `address` is the teacher's network address."""
        material = pack_lesson(lesson)
        self._parts.fair.count_start(address, len(material))
        while True:
            key = TeacherKey(new_code(is_rehearsal=self._parts.is_rehearsal), new_token())
            try:
                self._parts.store.write(lambda session, key=key: self._begin(session, key, material, is_guided))
            except IntegrityError:  # another class has this code
                continue
            return key

    def ask_the_room(self, question: Question, link: Link | None, *, address: str = "") -> TeacherKey:
        """Start a class with a single question about the picture that `link` opens."""
        return self.start(single_question_lesson(question, link), address=address)

    def version(self, key: TeacherKey) -> ClassVersion:
        """Return a class's version. This is cheap, since screens call it once a second."""
        if key not in self._ids:
            found = self._parts.store.read(lambda session: class_by_key(session, key, self._parts.clock()).id)
            self._ids = {**self._ids, key: found} if len(self._ids) < MOST_CLASSES else {key: found}
        version = self._parts.news.version(self._ids[key])
        if version is None:
            self._ids = {other: found for other, found in self._ids.items() if other != key}
            raise ClassGoneError(NO_LINK)
        return version

    def view(self, key: TeacherKey, at: int | None = None) -> TeacherView:
        """Return the teacher's view of step `at`, by default the class's current step."""

        def read_rows(session: Session) -> TeacherRows:
            row = class_by_key(session, key, self._parts.clock())
            lesson = unpack_lesson(row.material)
            here = row.step if at is None else min(max(at, 0), len(lesson.steps) - 1)
            members = session.scalars(select(MemberRow).where(MemberRow.class_id == row.id).order_by(MemberRow.id))
            asked = select(AnswerRow).where(AnswerRow.class_id == row.id, AnswerRow.step == here)
            answers = session.scalars(asked.order_by(AnswerRow.id))
            hints = select(func.count(HintRow.rungs)).join(MemberRow, HintRow.member_id == MemberRow.id)
            hinted = session.scalars(hints.where(MemberRow.class_id == row.id, HintRow.step == here)).one()
            return TeacherRows(row, lesson, step_of(session, row, here), tuple(members), tuple(answers), hinted)

        return teacher_view(self._parts.store.read(read_rows), self._parts.truths, self._parts.clock())

    def go(self, key: TeacherKey, at: int) -> None:
        """Move the class to a step.

        A step with a question stays closed until `open` is called, so that the teacher sees the question before the
        class does. A step without a question is open at once. A step that the class has visited before keeps its state.
        """

        def change(session: Session, row: ClassRow) -> None:
            steps = unpack_lesson(row.material).steps
            if not 0 <= at < len(steps):
                raise ClassroomError(f"There is no step {at + 1}: this lesson has steps 1 to {len(steps)}.")
            row.step, row.ends = at, None
            if session.get(ClassStepRow, (row.id, at)) is None:
                _current_step(session, row).state = OPEN if steps[at].question is None else CLOSED

        self._change(key, change)

    def open(self, key: TeacherKey) -> None:
        """Open the class's step for answers. Raises ClassroomError if the answer is revealed already."""
        self._change(key, lambda session, row: _set_state(row, _require_unrevealed(session, row), OPEN))

    def close(self, key: TeacherKey) -> None:
        """Close the class's step. Raises ClassroomError if the answer is revealed already."""
        self._change(key, lambda session, row: _set_state(row, _require_unrevealed(session, row), CLOSED))

    def set_timer(self, key: TeacherKey, *, minutes: float | None) -> None:
        """Start the timer of the open question again with this many minutes; None removes it.

        Nothing happens when it ends.
        """

        def change(session: Session, row: ClassRow) -> None:
            is_open = row.is_guided and not row.is_over and _current_step(session, row).state == OPEN
            if minutes is not None and not is_open:
                raise ClassroomError(
                    "A timer can only run while the question of the step is open. Please open the step first."
                )
            row.ends = None if minutes is None else self._parts.clock() + 60 * minutes

        self._change(key, change)

    def ask_again(self, key: TeacherKey) -> None:
        """Open a second round after the explanation. Raises ClassroomError if the answer is revealed already."""

        def change(session: Session, row: ClassRow) -> None:
            step = _require_unrevealed(session, row)
            step.round = AFTER
            _set_state(row, step, OPEN)

        self._change(key, change)

    def reveal(self, key: TeacherKey) -> None:
        """Show all students the right answer."""
        self._change(key, lambda session, row: _set_state(row, _current_step(session, row), REVEALED))

    def guide(self, key: TeacherKey, *, is_guided: bool) -> None:
        """Let the class go through the steps together, or let everybody work alone.

        Students who work alone see the right answer after each of their own answers, including earlier ones.
        """

        def change(session: Session, row: ClassRow) -> None:
            row.is_guided, row.ends = is_guided, None
            if not is_guided:
                session.execute(update(AnswerRow).where(AnswerRow.class_id == row.id).values(is_final=True))

        self._change(key, change)

    def set_anonymous(self, key: TeacherKey, *, is_anonymous: bool) -> None:
        """Choose whether each student gets a number instead of a nickname.

        Raises ClassroomError if a student has joined already.
        """

        def change(session: Session, row: ClassRow) -> None:
            if session.scalar(select(MemberRow.id).where(MemberRow.class_id == row.id).limit(1)):
                raise ClassroomError(
                    "Students have joined already. Please choose before anybody joins, or start a new class."
                )
            row.is_anonymous = is_anonymous

        self._change(key, change)

    def pick(self, key: TeacherKey, answer: int, *, is_picked: bool) -> None:
        """Choose whether the class may see a certain text that a student wrote."""

        def change(session: Session, row: ClassRow) -> None:
            found = session.get(AnswerRow, answer)
            if found is None or found.class_id != row.id:
                raise ClassroomError("This answer has been removed.")
            found.is_picked = is_picked

        self._change(key, change)

    def remove(self, key: TeacherKey, member: int) -> None:
        """Remove a member together with the member's answers."""

        def change(session: Session, row: ClassRow) -> None:
            session.execute(delete(MemberRow).where(MemberRow.class_id == row.id, MemberRow.id == member))

        self._change(key, change)
        self._parts.store.forget_deleted()

    def end(self, key: TeacherKey) -> None:
        """End the class. It accepts no more answers and members, and can be viewed until it expires."""

        def change(session: Session, row: ClassRow) -> None:
            row.is_over, row.ends = True, None

        self._change(key, change)

    def answers_csv(self, key: TeacherKey) -> bytes:
        """Return a CSV file with a line for every answer, and for each student who did not answer a step that
        was asked.
        """
        lesson, lines, _ = self._answer_lines(key)
        mapped = {line.at for line in lines if line.saved is not None and lesson.questions[line.at].kind in (CELL, ROW)}
        return answers_file(lesson, lines, {at: axis_texts(self._parts.truths, lesson, at) for at in mapped})

    def grades_csv(self, key: TeacherKey) -> bytes:
        """Return a CSV file for a gradebook, with a line per student: user, grade from 0 to 100, and its parts."""
        lesson, lines, asked = self._answer_lines(key)
        return grades_file(lines, [at for at in asked if lesson.questions[at].kind != TEXT])

    def _answer_lines(self, key: TeacherKey) -> tuple[Lesson, list[AnswerLine], list[int]]:
        """Return the lesson, the lines of all given and missing answers, and the steps that were asked."""
        if self._parts.is_rehearsal:
            raise ClassroomError("The students of a rehearsal are invented, so there is no file of their answers.")

        def find(session: Session) -> tuple[Lesson, list[AnswerLine], list[int]]:
            row = class_by_key(session, key, self._parts.clock())
            lesson = unpack_lesson(row.material)
            return lesson, *read_lines(session, row, lesson)

        return self._parts.store.read(find)

    def purge(self, key: TeacherKey) -> None:
        """Delete the class with its members and answers at once."""

        def forget(session: Session) -> int:
            row = class_by_key(session, key, self._parts.clock(), lock=True)
            session.execute(delete(ClassRow).where(ClassRow.id == row.id))
            return row.id

        self._parts.news.forget(self._parts.store.write(forget))
        self._parts.store.forget_deleted()

    def _begin(self, session: Session, key: TeacherKey, material: str, is_guided: bool) -> None:
        if session.scalars(select(func.count(ClassRow.id))).one() >= MOST_CLASSES:
            raise ClassroomError(f"{MOST_CLASSES:,} classes are stored here, and there is no room for more.")
        now = self._parts.clock()
        session.add(
            ClassRow(
                code=key.code, teacher=hash_token(key.secret), material=material, is_guided=is_guided, is_over=False,
                step=0, shared=0, news=0, created=now, expires=now + self._parts.keep_days * _DAY,
            )
        )  # fmt: skip

    def _change(self, key: TeacherKey, change: Callable[[Session, ClassRow], None]) -> None:
        """Apply `change` to the class's row in a transaction, and count it as a change that students can see."""

        def work(session: Session) -> int:
            row = class_by_key(session, key, self._parts.clock(), lock=True)
            change(session, row)
            row.shared += 1
            return row.id

        self._parts.news.forget(self._parts.store.write(work))


def _current_step(session: Session, row: ClassRow) -> ClassStepRow:
    """Return the row of the class's current step, and add it to the session."""
    step = step_of(session, row, row.step)
    session.add(step)
    return step


def _require_unrevealed(session: Session, row: ClassRow) -> ClassStepRow:
    step = _current_step(session, row)
    if step.state == REVEALED:
        raise ClassroomError(_SHOWN)
    return step


def _set_state(row: ClassRow, step: ClassStepRow, state: str) -> None:
    """Set a step's state, and remove the class's timer, which is valid only while the question is open."""
    step.state, row.ends = state, None
