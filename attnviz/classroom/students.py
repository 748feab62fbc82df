"""The functions of a class for students. A student is identified by a bearer token."""

import json
import threading
from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from attnviz.classroom.codes import LENGTH, hash_token, is_rehearsal, new_token, read_code
from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.joining import fold_nickname, validate_nickname
from attnviz.classroom.lookup import (
    NO_MEMBER,
    Standing,
    answers_of,
    class_by_code,
    member_by_token,
    rungs_of,
    step_of,
    step_standing,
)
from attnviz.classroom.material import unpack_lesson
from attnviz.classroom.member_view import MemberRows, member_view
from attnviz.classroom.parts import ClassroomParts
from attnviz.classroom.presence import MemberPlace
from attnviz.classroom.state import BEFORE, OPEN, REVEALED, ClassVersion, Joined, MemberView, Receipt
from attnviz.classroom.storage.tables import AnswerRow, ClassRow, HintRow, MemberRow
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.phrases import Translatable, sentence
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.scoring import score_answer

_FORMER_IDS = 50  # former client ids of an answer: one that is sent again comes soon
MOST_MEMBERS = 400
_LONGEST_ID = 64  # characters of a browser's name for an answer
_REMEMBERED = 50_000  # tokens


class Students:
    """The functions of all classes for students. They raise ClassroomError for what they refuse."""

    def __init__(self, parts: ClassroomParts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._places: dict[bytes, MemberPlace] = {}

    def join(self, code: str, nickname: str, *, address: str = "") -> Joined:
        """Add a member to the class with this code, and return the new member.

        Spaces, hyphens and small letters in the code do not matter. `address` is the student's network address. A class
        without nicknames gives the student a number instead.
        """
        fair = self._parts.fair
        fair.require_a_try(address)
        read, token = read_code(code), new_token()
        if not read:
            raise ClassroomError(
                Translatable(
                    "The code of a class has {count} letters, such as BCDF GHJK. Please check yours.", count=LENGTH
                )
            )
        try:
            class_id, name = self._parts.store.write(lambda session: self._new_member(session, read, nickname, token))
        except ClassGoneError:
            if not is_rehearsal(read):  # a class may follow the code of its teacher's rehearsal, all at once
                fair.count_wrong(address)
            raise
        except IntegrityError:
            name = validate_nickname(nickname)
            raise ClassroomError(
                Translatable(
                    "Somebody in this class is called “{name}” already. Please choose another nickname.", name=name
                )
            ) from None
        self._parts.news.forget(class_id)
        return Joined(token, name, read)

    def language(self, code: str, *, address: str = "") -> str:
        """Return the language of a class's lesson, in which the form to join is shown.

        A wrong code counts as an attempt to join, so that nobody can search for codes with this function.
        """
        self._parts.fair.require_a_try(address)
        try:
            return self._parts.store.read(lambda session: self._language(session, code))
        except ClassGoneError:
            if not is_rehearsal(code):
                self._parts.fair.count_wrong(address)
            raise

    def heartbeat(self, token: str) -> ClassVersion:
        """Report that a student's screen is open, and return the class's version. Screens call this once a second."""
        place = self._places.get(hash_token(token)) or self._find_place(token)
        self._parts.presence.note(place)
        self._parts.presence.flush()  # here, for a teacher's screen is not to wait while it is written
        version = self._parts.news.version(place.class_id)
        if version is None:
            self._places.pop(hash_token(token), None)
            raise ClassGoneError(NO_MEMBER)
        return version

    def view(self, token: str, at: int | None = None) -> MemberView:
        """Return a student's view.

        If everybody works alone, `at` is the step that the student opens; None is the last one.
        """

        def find(session: Session) -> tuple[MemberRows, Lesson, int, Standing]:
            member, row = member_by_token(session, token, self._parts.clock())
            lesson = unpack_lesson(row.material)
            here = self._clamp_step(row, lesson, self._last_step(token, member) if at is None else at)
            answers = answers_of(session, member, here)
            rows = MemberRows(row, member, answers, rungs_of(session, member, here))
            return rows, lesson, here, step_standing(row, step_of(session, row, here), answers)

        rows, lesson, here, stands = self._parts.store.read(find)
        self._remember_place(token, MemberPlace(rows.member.id, rows.row.id, here))
        return member_view(rows, lesson, here, stands, self._parts.truths)

    def picture(self, token: str) -> LinkedPicture | None:
        """Run the model on the inputs in the link of the student's step.

        The result contains the right answer, so it must not reach the browser as it is.
        """

        def find(session: Session) -> tuple[Lesson, int]:
            member, row = member_by_token(session, token, self._parts.clock())
            lesson = unpack_lesson(row.material)
            return lesson, self._clamp_step(row, lesson, self._last_step(token, member))

        return self._parts.truths.picture(*self._parts.store.read(find))

    def answer(self, token: str, at: int, given: Any, *, in_round: str, client_id: str) -> Receipt:
        """Save an answer to step `at`, in the round in which the student was asked.

        `given` has the form of an answer in `attnviz.lessons.scoring`. With another `client_id` the answer is changed,
        as long as the step takes answers and does not show the right one. The same `client_id` changes nothing.
        """
        code, lesson = self._parts.store.read(lambda session: self._lesson_of(session, token))
        question = lesson.questions.get(at)
        if question is None:
            raise ClassroomError(Translatable("This step has no question."))
        truth = self._parts.truths.answer(code, lesson, at)
        try:
            score = score_answer(question, given, truth).share
        except (ValueError, OverflowError) as error:
            raise ClassroomError(sentence(error)) from None
        answer = AnswerRow(
            step=at, round=in_round, client_id=client_id[:_LONGEST_ID], score=score, given=encode_answer(given)
        )
        return self._save(token, answer)

    def skip(self, token: str, at: int) -> Receipt:
        """Skip the question of step `at`, which shows its right answer, if everybody works alone. Skips are counted."""
        _, lesson = self._parts.store.read(lambda session: self._lesson_of(session, token))
        if at not in lesson.questions:
            raise ClassroomError(Translatable("This step has no question."))
        return self._save(token, AnswerRow(step=at, round=BEFORE, client_id="", score=None, given=encode_answer(None)))

    def hint(self, token: str, at: int) -> None:
        """Open the next hint at step `at`, if there is one and the step is not answered yet. Hints are counted."""

        def open_hint(session: Session) -> int:
            member, row = member_by_token(session, token, self._parts.clock(), lock=True)
            answers, question = answers_of(session, member, at), unpack_lesson(row.material).questions.get(at)
            stands = step_standing(row, step_of(session, row, at), answers)
            if (
                question is None
                or stands.state != OPEN
                or stands.round in answers
                or (row.is_guided and row.step != at)
            ):
                raise ClassroomError(
                    Translatable("Hints are available while the question is open and before you answer.")
                )
            rungs = min(rungs_of(session, member, at) + 1, question.rungs)
            session.merge(HintRow(member_id=member.id, step=at, rungs=rungs))
            row.news += 1
            return row.id

        self._parts.news.forget(self._parts.store.write(open_hint))

    def leave(self, token: str) -> None:
        """Invalidate a student's token. The student's answers stay in the class."""

        def leave(session: Session) -> int:
            member, row = member_by_token(session, token, self._parts.clock(), lock=True)
            member.token, member.seen = hash_token(new_token()), 0.0
            row.news += 1
            return row.id

        self._parts.news.forget(self._parts.store.write(leave))
        self._places.pop(hash_token(token), None)

    def _language(self, session: Session, code: str) -> str:
        return unpack_lesson(class_by_code(session, code, self._parts.clock()).material).language

    def _new_member(self, session: Session, code: str, nickname: str, token: str) -> tuple[int, str]:
        """Add a member's row, and return the class's id and the saved nickname."""
        now = self._parts.clock()
        row = class_by_code(session, code, now, lock=True)
        if saved := session.scalar(select(MemberRow.nickname).where(MemberRow.token == hash_token(token))):
            return row.id, saved  # this is a second try, and the first one was saved after all
        if row.is_over:
            raise ClassroomError(Translatable("This class has ended, so nobody can join it any more."))
        if session.scalars(select(func.count()).where(MemberRow.class_id == row.id)).one() >= MOST_MEMBERS:
            raise ClassroomError(
                Translatable("This class is full, because it already has {count} members.", count=MOST_MEMBERS)
            )
        name = _free_name(session, row) if row.is_anonymous else validate_nickname(nickname)
        member = MemberRow(class_id=row.id, nickname=name, folded=fold_nickname(name), token=hash_token(token))
        member.step, member.joined, member.seen = self._clamp_step(row, unpack_lesson(row.material), 0), now, now
        session.add(member)
        row.news += 1
        return row.id, name

    def _save(self, token: str, answer: AnswerRow) -> Receipt:
        def save(session: Session) -> tuple[AnswerRow, int, bool]:
            member, row = member_by_token(session, token, self._parts.clock(), lock=True)
            saved, is_new = save_answer(session, member, row, answer, self._parts.clock())
            row.news += is_new
            return saved, row.id, is_new

        saved, class_id, is_new = self._parts.store.write(save)
        self._parts.news.forget(class_id)
        return Receipt(saved.step, saved.round, json.loads(saved.given), saved.saved, is_new)

    def _lesson_of(self, session: Session, token: str) -> tuple[str, Lesson]:
        _, row = member_by_token(session, token, self._parts.clock())
        return row.code, unpack_lesson(row.material)

    def _find_place(self, token: str) -> MemberPlace:
        def find(session: Session) -> MemberPlace:
            member, row = member_by_token(session, token, self._parts.clock())
            return MemberPlace(member.id, row.id, self._clamp_step(row, unpack_lesson(row.material), member.step))

        return self._remember_place(token, self._parts.store.read(find))

    def _remember_place(self, token: str, place: MemberPlace) -> MemberPlace:
        with self._lock:
            if len(self._places) > _REMEMBERED:
                self._places.clear()
            self._places[hash_token(token)] = place
        self._parts.presence.note(place)
        return place

    def _last_step(self, token: str, member: MemberRow) -> int:
        """Return the step that a student's screen showed last, which may not be in the database yet."""
        place = self._places.get(hash_token(token))
        return place.at if place else member.step

    @staticmethod
    def _clamp_step(row: ClassRow, lesson: Lesson, asked: int) -> int:
        return row.step if row.is_guided else min(max(asked, 0), len(lesson.steps) - 1)


def _free_name(session: Session, row: ClassRow) -> str:
    """Return the first unused name “Student 1”, “Student 2” and so on."""
    taken = set(session.scalars(select(MemberRow.nickname).where(MemberRow.class_id == row.id)))
    return next(name for number in range(1, MOST_MEMBERS + 2) if (name := f"Student {number}") not in taken)


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
        there.former_ids = encode_answer(_ids(there)[-_FORMER_IDS:])
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
        raise ClassroomError(_late_refusal(Translatable("This class has ended, so you can no longer answer."), had))
    if row.is_guided and answer.given == _SKIPPED:
        raise ClassroomError(Translatable("Your teacher shows the right answer when everybody has answered."))
    if row.is_guided and row.step != answer.step:
        raise ClassroomError(
            _late_refusal(
                Translatable("Your answer came too late, because your class has gone on to another step."), had
            )
        )
    if stands.state == REVEALED or (there is not None and there.is_final):
        raise ClassroomError(
            _late_refusal(Translatable("Your answer came too late, because the right answer has been shown."), had)
        )
    if stands.state != OPEN:
        raise ClassroomError(
            _late_refusal(
                Translatable("You cannot answer this step at the moment. Please wait for your teacher to open it."), had
            )
        )
    if stands.round != answer.round:
        raise ClassroomError(
            Translatable("The question has been asked again meanwhile. Please look at it once more, then answer.")
        )


def _late_refusal(refusal: str, has_earlier: bool) -> str:
    """Return a refusal; if there is an earlier answer, add a sentence that says it counts."""
    return Translatable("{refusal} Your earlier answer counts.", refusal=refusal) if has_earlier else refusal
