"""What students may do and see: in a class that walks together, and in one that walks alone."""

import dataclasses
import json

import pytest

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, BEFORE, CLOSED, OPEN, REVEALED, TeacherKey
from attnviz.lessons.lesson import Lesson

ASKED = {"in_round": BEFORE, "client_id": "a"}


@pytest.fixture
def key(room: Classroom, lesson: Lesson) -> TeacherKey:
    return room.teachers.start(lesson)


def test_a_code_is_taken_with_spaces_hyphens_and_small_letters(room: Classroom, key: TeacherKey) -> None:
    typed = f"  {key.code[:4].lower()}–{key.code[4:]} "
    assert room.students.join(typed, "Ana").code == key.code
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in key.code)
    assert room.students.join(wide, "Ben").code == key.code


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "has 8 letters"),
        ("BCDF", "has 8 letters"),
        ("BCDF GHJ0", "has 8 letters"),
        ("b" * 10_000, "has 8 letters"),
        ("bcdf ghjk", "There is no class with the code BCDF GHJK"),
    ],
)
def test_a_code_that_is_none_says_so(room: Classroom, key: TeacherKey, code: str, words: str) -> None:
    with pytest.raises(ClassroomError, match=words):
        room.students.join(code, "Ana")


@pytest.mark.parametrize("taken", ["Ana", "ANA", " a\u200dna ", "Ａｎａ"])
def test_a_nickname_is_one_student_whatever_its_letters(room: Classroom, key: TeacherKey, taken: str) -> None:
    room.students.join(key.code, "ana")
    with pytest.raises(ClassroomError, match="in this class is called"):
        room.students.join(key.code, taken)


def test_nobody_joins_a_class_that_has_ended(room: Classroom, key: TeacherKey) -> None:
    room.teachers.end(key)
    with pytest.raises(ClassroomError, match="has ended, so nobody can join"):
        room.students.join(key.code, "Ana")


def test_wrong_codes_are_bounded_for_an_address_and_right_ones_are_not(room: Classroom, key: TeacherKey) -> None:
    for number in range(60):
        room.students.join(key.code, f"Student {number}", address="192.0.2.1")
    for number in range(20):
        with pytest.raises(ClassGoneError):
            room.students.join("BCDF GHJK", "Ana", address=f"2001:db8:1:2::{number:x}")
    with pytest.raises(ClassroomError, match="wrong codes were tried from here"):
        room.students.join(key.code, "Ana", address="2001:db8:1:2:3::1")
    assert room.students.join(key.code, "Ana", address="2001:db8:1:3::1")


def test_wrong_codes_are_bounded_for_all_addresses_together(room: Classroom, key: TeacherKey) -> None:
    for number in range(300):
        with pytest.raises(ClassGoneError):
            room.students.join("BCDF GHJK", "Ana", address=f"192.0.2.{number % 30}")
    with pytest.raises(ClassroomError, match="are being tried at the moment"):
        room.students.join(key.code, "Ana", address="198.51.100.1")


def test_nothing_that_tells_is_in_a_students_view_before_the_reveal(room: Classroom, key: TeacherKey) -> None:
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    room.teachers.open(key)
    room.students.answer(ana, 0, 2, **ASKED)
    view = room.students.view(ben)
    question = view.step.question
    assert (question.right, question.why, question.measure) == (None, "", "")
    assert (view.truth, view.marked, view.given, view.first, view.is_revealed) == (None, None, None, None, False)
    told = json.dumps(dataclasses.asdict(view))
    assert "Because 1" not in told
    assert "Ana" not in told
    assert "step 2" not in told
    room.teachers.reveal(key)
    view = room.students.view(ana)
    assert (view.truth.answer, view.given, view.marked.is_right) == (0, 2, False)
    assert view.step.question.why == "Because 1."


def test_an_answer_is_taken_while_its_step_is_open_and_no_other_time(room: Classroom, key: TeacherKey) -> None:
    ana = room.students.join(key.code, "Ana").token
    refused = [
        (lambda: None, "cannot answer this step at the moment"),
        (lambda: (room.teachers.open(key), room.teachers.close(key)), "cannot answer this step at the moment"),
        (lambda: room.teachers.reveal(key), "came too late, because the right answer has been shown"),
        (lambda: room.teachers.go(key, 1), "gone on to another step"),
        (lambda: room.teachers.end(key), "can no longer answer"),
    ]
    for change, words in refused:
        change()
        with pytest.raises(ClassroomError, match=words):
            room.students.answer(ana, 0, 0, **ASKED)
    assert room.teachers.view(key, 0).summaries == {}


def test_an_answer_is_one_however_often_it_is_sent(room: Classroom, key: TeacherKey) -> None:
    ana = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    first = room.students.answer(ana, 0, 0, **ASKED)
    room.teachers.close(key)
    again = room.students.answer(ana, 0, 0, **ASKED)
    assert (first.is_new, again.is_new) == (True, False)
    assert (again.given, again.saved) == (first.given, first.saved)
    assert room.teachers.view(key).summaries[BEFORE].options == (1, 0, 0)


def test_a_second_round_is_counted_beside_the_first(room: Classroom, key: TeacherKey) -> None:
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    room.teachers.open(key)
    room.students.answer(ana, 0, 2, **ASKED)
    room.teachers.ask_again(key)
    with pytest.raises(ClassroomError, match="asked again meanwhile"):
        room.students.answer(ben, 0, 0, **ASKED)
    room.students.answer(ana, 0, 0, in_round=AFTER, client_id="b")
    view = room.students.view(ana)
    assert (view.round, view.first, view.given) == (AFTER, 2, 0)
    summaries = room.teachers.view(key).summaries
    assert [summaries[which].share_right for which in (BEFORE, AFTER)] == [0.0, 1.0]
    room.teachers.reveal(key)
    for asked in (room.teachers.ask_again, room.teachers.open):
        with pytest.raises(ClassroomError, match="The right answer to this step has been shown"):
            asked(key)


def test_an_unguided_student_sees_the_truth_after_answering_or_skipping(room: Classroom, key: TeacherKey) -> None:
    room.teachers.guide(key, is_guided=False)
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    assert room.students.view(ana, 1).at == 1
    room.students.answer(ana, 1, 1, **ASKED)
    assert room.students.view(ana).truth.answer == 1, "her step is remembered"
    assert room.students.view(ben, 1).truth is None
    room.students.skip(ben, 1)
    view = room.students.view(ben, 1)
    assert (view.is_skipped, view.is_revealed, view.may_answer) == (True, True, False)
    summary = room.teachers.view(key, 1).summaries[BEFORE]
    assert (summary.answered, summary.skipped, summary.share_right) == (1, 1, 1.0)
    assert room.students.view(ana, 17).at == 2, "there are three steps"


def test_in_a_guided_class_nobody_skips_or_walks_ahead(room: Classroom, key: TeacherKey) -> None:
    ana = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    assert room.students.view(ana, 2).at == 0
    with pytest.raises(ClassroomError, match="Your teacher shows the right answer"):
        room.students.skip(ana, 0)


def test_a_step_stays_as_it_was_left(room: Classroom, key: TeacherKey) -> None:
    def states() -> list[str]:
        return [room.teachers.view(key, at).state for at in range(3)]

    assert states() == [CLOSED, CLOSED, CLOSED]
    room.teachers.go(key, 1)
    room.teachers.reveal(key)
    room.teachers.go(key, 2)
    assert states() == [CLOSED, REVEALED, CLOSED], "the teacher sees the question before it is opened"
    room.teachers.open(key)
    room.teachers.go(key, 1)
    assert states() == [CLOSED, REVEALED, OPEN]
    with pytest.raises(ClassroomError, match="has steps 1 to 3"):
        room.teachers.go(key, 3)


def test_leaving_ends_a_students_key_and_keeps_the_answers(room: Classroom, key: TeacherKey) -> None:
    ana = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    room.students.answer(ana, 0, 0, **ASKED)
    room.students.leave(ana)
    for asked in (room.students.view, room.students.heartbeat, room.students.leave):
        with pytest.raises(ClassGoneError):
            asked(ana)
    assert room.teachers.view(key).summaries[BEFORE].answered == 1


@pytest.mark.parametrize("token", ["", "x", "\ud800", "a" * 10_000])
def test_another_token_is_nobody(room: Classroom, key: TeacherKey, token: str) -> None:
    room.students.join(key.code, "Ana")
    with pytest.raises(ClassGoneError, match="join again with a code"):
        room.students.view(token)


@pytest.mark.parametrize("given", [None, "red", 3, -1, True, [0], 1.0, float("nan"), 10**400, {"a": 1}])
def test_what_cannot_be_an_answer_is_refused(room: Classroom, key: TeacherKey, given) -> None:
    ana = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    with pytest.raises(ClassroomError):
        room.students.answer(ana, 0, given, **ASKED)
