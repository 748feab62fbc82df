"""The timer of an open question: set, the same for all, and gone with the next question or the reveal."""

from collections.abc import Callable
from pathlib import Path

import pytest

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, OPEN, TeacherKey
from attnviz.classroom.teachers import Teachers
from attnviz.lessons.lesson import Lesson
from tests.classroom.conftest import Clock

Act = Callable[[Teachers, TeacherKey], None]


@pytest.fixture
def key(room: Classroom, lesson: Lesson) -> TeacherKey:
    """Make a class whose first step is open."""
    key = room.teachers.start(lesson)
    room.teachers.open(key)
    return key


def test_every_screen_and_another_front_see_the_same_end(room, key, clock: Clock, tmp_path: Path) -> None:
    ana = room.students.join(key.code, "Ana").token
    before = room.students.heartbeat(ana).shared
    room.teachers.set_timer(key, minutes=1.5)
    ends = clock.now + 90
    assert room.students.heartbeat(ana).shared > before, "the phones hear of it"
    clock.now += 30
    late = room.students.join(key.code, "Late").token
    other = Classroom(str(tmp_path / "classes.sqlite"), lambda link: None, clock=clock)
    assert [one.teachers.view(key).ends for one in (room, other)] == [ends, ends]
    assert [one.students.view(late).ends for one in (room, other)] == [ends, ends]
    other.close()


def test_a_step_stays_open_when_its_timer_ends(room: Classroom, key: TeacherKey, clock: Clock) -> None:
    ana = room.students.join(key.code, "Ana").token
    room.teachers.set_timer(key, minutes=1)
    clock.now += 61
    assert room.teachers.view(key).state == OPEN
    assert room.students.answer(ana, 0, 2, in_round="before", client_id="a").is_new


@pytest.mark.parametrize(
    "act",
    [
        lambda teachers, key: teachers.set_timer(key, minutes=None),
        lambda teachers, key: teachers.ask_again(key),
        lambda teachers, key: teachers.go(key, 1),
        lambda teachers, key: teachers.close(key),
        lambda teachers, key: teachers.reveal(key),
        lambda teachers, key: teachers.guide(key, is_guided=False),
        lambda teachers, key: teachers.end(key),
    ],
    ids=["none chosen", "ask again", "next step", "close", "reveal", "everybody alone", "end"],
)
def test_a_timer_ends_with_its_question(room: Classroom, key: TeacherKey, act: Act) -> None:
    room.teachers.set_timer(key, minutes=2)
    act(room.teachers, key)
    assert room.teachers.view(key).ends is None


def test_the_second_round_may_have_one_and_a_step_that_is_not_open_none(room: Classroom, key: TeacherKey) -> None:
    room.teachers.ask_again(key)
    room.teachers.set_timer(key, minutes=1)
    found = room.teachers.view(key)
    assert (found.round, found.ends is None) == (AFTER, False)
    for stop in (room.teachers.close, room.teachers.reveal):
        stop(key)
        with pytest.raises(ClassroomError, match="open the step first"):
            room.teachers.set_timer(key, minutes=1)
