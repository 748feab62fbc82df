"""A teacher's view of a class, and the end of its data."""

import pytest

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE, TeacherKey, WrittenText
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.library import shelf
from attnviz.lessons.question import Option, Question, Range
from tests.classroom.lesson import choices, one_step_lesson

DAY = 86_400


def test_the_link_of_another_or_half_a_link_opens_nothing(room: Classroom, lesson: Lesson) -> None:
    one, other = room.teachers.start(lesson), room.teachers.start(lesson)
    for wrong in (TeacherKey(one.code, other.secret), TeacherKey(one.code, ""), TeacherKey("BCDFGHJK", one.secret)):
        for asked in (room.teachers.view, room.teachers.reveal, room.teachers.purge, room.teachers.version):
            with pytest.raises(ClassGoneError, match="There is no class at this link"):
                asked(wrong)
    assert room.teachers.view(one).state == "closed"


def test_every_shipped_lesson_can_be_a_class(room: Classroom) -> None:
    for shelved in shelf():
        key = room.teachers.start(shelved.lesson)
        assert room.teachers.view(key).lesson == shelved.lesson


def test_one_address_begins_classes_of_so_many_bytes_an_hour_and_many_small_ones(room: Classroom) -> None:
    large = Lesson("large", "Large", 5, "tests", "en", (LessonStep("Only", "a" * 900_000, None, None),))
    for _ in range(6):
        room.teachers.start(large, address="192.0.2.1")
    with pytest.raises(ClassroomError, match=r"Too many classes were started from here\. Please try again in an hour"):
        room.teachers.start(large, address="192.0.2.1")
    for number in range(60):
        room.teachers.start(choices(3), address=f"2001:db8::{number:x}")
    with pytest.raises(ClassroomError, match=r"Too many classes were started from here\. Please try again in an hour"):
        room.teachers.start(choices(3), address="2001:db8::ffff")


def test_a_question_to_the_room_is_a_class_of_one_step(room: Classroom) -> None:
    question = Question("choice", "?", options=(Option("a", Range(0, 1)), Option("b", Range(2, 3))), measure="maps")
    link = Link("Heads", {"src": "A <b>dog</b>.", "tgt": "Un chien."})
    view = room.teachers.view(room.teachers.ask_the_room(question, link))
    assert (view.lesson.steps[0].question, view.lesson.picture(0)) == (question, link)


def test_the_teacher_sees_who_is_where_and_who_has_gone(room: Classroom, clock) -> None:
    key = room.teachers.start(choices(3), is_guided=False)
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    room.students.view(ana, 2)
    room._presence.flush(now=True)
    lines = room.teachers.view(key).members
    assert [(line.nickname, line.at, line.is_here) for line in lines] == [("Ana", 2, True), ("Ben", 0, True)]
    clock.now += 31
    room.students.heartbeat(ben)
    room._presence.flush(now=True)
    assert [line.is_here for line in room.teachers.view(key).members] == [False, True]


def test_students_hear_of_the_teacher_and_not_of_each_others_answers(room: Classroom, lesson: Lesson) -> None:
    key = room.teachers.start(lesson)
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    room.teachers.open(key)
    before = room.students.heartbeat(ben)
    room.students.answer(ana, 0, 0, in_round=BEFORE, client_id="a")
    answered, taught = room.students.heartbeat(ben), room.teachers.version(key)
    assert answered.shared == before.shared
    assert taught.news > before.news
    room.teachers.close(key)
    assert room.students.heartbeat(ben).shared > before.shared


def test_removing_a_student_removes_their_answers(room: Classroom) -> None:
    key = room.teachers.start(one_step_lesson(Question("text", "?")))
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    room.teachers.open(key)
    for token, text in ((ana, "rude"), (ben, "polite")):
        room.students.answer(token, 0, text, in_round=BEFORE, client_id="a")
    room.teachers.remove(key, room.teachers.view(key).members[0].id)
    view = room.teachers.view(key)
    assert [line.nickname for line in view.members] == ["Ben"]
    assert [said.text for said in view.summaries[BEFORE].texts] == ["polite"]
    with pytest.raises(ClassGoneError):
        room.students.view(ana)


def test_a_class_ends_after_its_days_and_is_deleted(room: Classroom, lesson: Lesson, clock, tmp_path) -> None:
    key = room.teachers.start(lesson)
    token = room.students.join(key.code, "Unmistakable").token
    clock.now += 13.9 * DAY
    later = room.teachers.start(lesson)
    assert room.students.view(token)
    clock.now += 0.2 * DAY
    for asked in (lambda: room.students.view(token), lambda: room.students.join(key.code, "Ben")):
        with pytest.raises(ClassGoneError):
            asked()
    assert room.sweep() == 1
    assert room.teachers.view(later)
    assert not [file for file in tmp_path.iterdir() if b"Unmistakable" in file.read_bytes()]


def test_what_is_purged_is_in_no_file_any_more(room: Classroom, lesson: Lesson, tmp_path) -> None:
    key = room.teachers.start(lesson)
    room.students.join(key.code, "Unmistakable")
    assert [file for file in tmp_path.iterdir() if b"Unmistakable" in file.read_bytes()]
    room.teachers.purge(key)
    assert not [file for file in tmp_path.iterdir() if b"Unmistakable" in file.read_bytes()]
    with pytest.raises(ClassGoneError):
        room.teachers.answers_csv(key)


def test_nicknames_are_given_up_before_anybody_has_one(room: Classroom, lesson: Lesson) -> None:
    key = room.teachers.start(lesson)
    room.teachers.set_anonymous(key, is_anonymous=True)
    names = [room.students.join(key.code, "").nickname for _ in range(2)]
    assert names == ["Student 1", "Student 2"]
    room.teachers.remove(key, room.teachers.view(key).members[0].id)
    assert room.students.join(key.code, "Ana").nickname == "Student 1"
    with pytest.raises(ClassroomError, match="Students have joined already"):
        room.teachers.set_anonymous(key, is_anonymous=False)


def test_a_text_is_picked_by_the_teacher_of_its_class_alone(room: Classroom) -> None:
    keys = [room.teachers.start(one_step_lesson(Question("text", "?"))) for _ in range(2)]
    token = room.students.join(keys[0].code, "Ana").token
    room.teachers.open(keys[0])
    room.students.answer(token, 0, "So.", in_round=BEFORE, client_id="a")
    (said,) = room.teachers.view(keys[0]).summaries[BEFORE].texts
    assert not said.is_picked
    with pytest.raises(ClassroomError, match="has been removed"):
        room.teachers.pick(keys[1], said.id, is_picked=True)
    room.teachers.pick(keys[0], said.id, is_picked=True)
    assert room.teachers.view(keys[0]).summaries[BEFORE].texts == (WrittenText(said.id, "So.", True),)


def test_a_step_whose_answer_cannot_be_computed_says_why(room: Classroom) -> None:
    key = room.teachers.start(one_step_lesson(Question("cell", "?")))
    room.teachers.open(key)
    view = room.teachers.view(key)
    assert view.truth is None
    assert "put a link into this step" in view.problem
    token = room.students.join(key.code, "Ana").token
    with pytest.raises(ClassroomError, match="cannot be computed here"):
        room.students.answer(token, 0, [[0, 0]], in_round=BEFORE, client_id="a")
    room.teachers.reveal(key)
    assert "put a link into this step" in room.students.view(token).problem
