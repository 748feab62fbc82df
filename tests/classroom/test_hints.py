"""Hints in a class: opened one by one, not sent before, and counted."""

import csv
import io
from dataclasses import replace

import pytest

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE, MemberView, TeacherKey
from attnviz.lessons.lesson import Lesson

HINTS = ("A nudge.", "A suggestion.")


@pytest.fixture
def key(room: Classroom, lesson: Lesson) -> TeacherKey:
    """Make a class whose first step has three hints, the last one a spotlight."""
    first = lesson.steps[0]
    assert first.question is not None
    asked = replace(first, question=replace(first.question, hints=HINTS, show="row"))
    return room.teachers.start(replace(lesson, steps=(asked, *lesson.steps[1:])))


def hint_state(view: MemberView) -> tuple[tuple[str, ...], str, bool]:
    question = view.step.question
    assert question is not None
    return question.hints, question.show, view.may_ask_hint


def test_a_student_has_the_hints_that_were_opened_and_no_other(room: Classroom, key: TeacherKey) -> None:
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    room.teachers.open(key)
    for hints, show, is_more in (((), "", True), (HINTS[:1], "", True), (HINTS, "", True), (HINTS, "row", False)):
        assert hint_state(room.students.view(ana)) == (hints, show, is_more)
        room.students.hint(ana, 0)
    assert room.students.view(ana).rungs == 3, "there are no more"
    assert hint_state(room.students.view(ben)) == ((), "", True), "hers are not his"


def test_hints_are_for_a_question_that_is_open_and_not_answered(room: Classroom, key: TeacherKey) -> None:
    ana = room.students.join(key.code, "Ana").token
    refused = [
        lambda: None,
        lambda: (room.teachers.open(key), room.students.answer(ana, 0, 0, in_round=BEFORE, client_id="a")),
        lambda: (room.teachers.go(key, 1), room.teachers.open(key)),
        lambda: (room.teachers.go(key, 0), room.teachers.reveal(key)),
    ]
    for change in refused:
        change()
        with pytest.raises(ClassroomError, match="before you answer"):
            room.students.hint(ana, 0)
    with pytest.raises(ClassroomError, match="before you answer"):
        room.students.hint(ana, 99)


def test_a_step_that_was_left_open_gives_no_hints_in_a_class_that_walks_together(room: Classroom, key) -> None:
    ana = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    room.teachers.go(key, 1)
    with pytest.raises(ClassroomError, match="before you answer"):
        room.students.hint(ana, 0)


def test_the_teacher_sees_how_many_opened_a_hint_and_the_table_how_often(room: Classroom, key: TeacherKey) -> None:
    ana, ben = (room.students.join(key.code, name).token for name in ("Ana", "Ben"))
    room.teachers.open(key)
    version = room.teachers.version(key)
    for _ in range(2):
        room.students.hint(ana, 0)
    assert room.teachers.version(key).news > version.news
    assert room.teachers.version(key).shared == version.shared
    assert room.teachers.view(key).hinted == 1
    assert room.teachers.view(key, 1).hinted == 0
    for token in (ana, ben):
        room.students.answer(token, 0, 0, in_round=BEFORE, client_id="a")
    rows = csv.DictReader(io.StringIO(room.teachers.answers_csv(key).decode("utf-8-sig"), newline=""))
    assert [(row["nickname"], row["hints"]) for row in rows] == [("Ana", "2"), ("Ben", "0")]


def test_hints_go_with_their_student(room: Classroom, key: TeacherKey) -> None:
    ana = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    room.students.hint(ana, 0)
    room.teachers.remove(key, room.teachers.view(key).members[0].id)
    assert room.teachers.view(key).hinted == 0
