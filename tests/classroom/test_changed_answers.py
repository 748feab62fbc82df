"""An answer can be changed while its step takes answers: it stays one answer, and the last acknowledged one counts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, BEFORE, MemberView, Receipt, TeacherKey
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.question import TEXT, Question
from tests.classroom.changing import change_everywhere

Answer = Callable[..., Receipt]


@pytest.fixture
def key(room: Classroom, lesson: Lesson) -> TeacherKey:
    """Make a class whose first step is open."""
    key = room.teachers.start(lesson)
    room.teachers.open(key)
    return key


@pytest.fixture
def ana(room: Classroom, key: TeacherKey) -> str:
    return room.students.join(key.code, "Ana").token


@pytest.fixture
def answer(room: Classroom, ana: str) -> Answer:
    """Answer the first step as Ana."""

    def give(given: object, client_id: str, in_round: str = BEFORE) -> Receipt:
        return room.students.answer(ana, 0, given, in_round=in_round, client_id=client_id)

    return give


def answer_state(view: MemberView) -> tuple[object, bool, bool]:
    return view.given, view.may_answer, view.may_ask_hint


def test_a_changed_answer_takes_the_place_of_the_first(room: Classroom, key: TeacherKey, ana, answer: Answer) -> None:
    answer(2, "a")
    before = room.teachers.version(key)
    assert answer_state(room.students.view(ana)) == (2, True, False)
    changed = answer(0, "b")
    assert (changed.given, changed.is_new) == (0, True)
    assert answer_state(room.students.view(ana)) == (0, True, False)
    after = room.teachers.version(key)
    assert (after.news > before.news, after.shared) == (True, before.shared), "the teacher's screen hears of it"
    view = room.teachers.view(key)
    assert view.summaries[BEFORE].options == (1, 0, 0)
    assert view.summaries[BEFORE].share_right == 1.0
    assert [one.answered for one in view.members] == [(BEFORE,)]
    assert len(room.teachers.answers_csv(key).decode().splitlines()) == 2, "one line besides the names of the columns"


def test_an_answer_that_is_sent_again_does_not_undo_the_one_after_it(
    room: Classroom, key: TeacherKey, answer: Answer
) -> None:
    for given, client_id in ((2, "a"), (0, "b"), (1, "c")):
        answer(given, client_id)
    for given, client_id in ((2, "a"), (0, "b"), (1, "c")):
        late = answer(given, client_id)
        assert (late.given, late.is_new) == (1, False)
    assert room.teachers.view(key).summaries[BEFORE].options == (0, 1, 0)


def test_an_answer_stays_once_its_step_takes_none(room: Classroom, key: TeacherKey, ana, answer: Answer) -> None:
    answer(2, "a")
    refused = [
        (lambda: room.teachers.close(key), "cannot answer this step at the moment.* Your earlier answer counts"),
        (lambda: room.teachers.reveal(key), "has been shown.* Your earlier answer counts"),
        (lambda: room.teachers.go(key, 1), "gone on to another step.* Your earlier answer counts"),
        (lambda: room.teachers.end(key), "can no longer answer. Your earlier answer counts"),
    ]
    for change, words in refused:
        change()
        with pytest.raises(ClassroomError, match=words):
            answer(0, "b")
    assert not room.students.view(ana).may_answer
    assert room.teachers.view(key, 0).summaries[BEFORE].options == (0, 0, 1)


def test_a_step_that_is_opened_again_takes_changes(room: Classroom, key: TeacherKey, answer: Answer) -> None:
    answer(2, "a")
    room.teachers.close(key)
    room.teachers.open(key)
    assert answer(0, "b").is_new


def test_the_second_round_leaves_the_first_as_it_was(room: Classroom, key: TeacherKey, answer: Answer) -> None:
    answer(2, "a")
    room.teachers.ask_again(key)
    with pytest.raises(ClassroomError, match="asked again meanwhile"):
        answer(0, "b")
    answer(1, "c", AFTER)
    answer(0, "d", AFTER)
    summaries = room.teachers.view(key).summaries
    assert (summaries[BEFORE].options, summaries[AFTER].options) == ((0, 0, 1), (1, 0, 0))


@pytest.mark.parametrize("is_skipped", [False, True])
def test_a_student_cannot_change_an_answer_after_the_reveal(
    room: Classroom, key: TeacherKey, ana, answer, is_skipped
) -> None:
    room.teachers.guide(key, is_guided=False)
    if is_skipped:
        room.students.skip(ana, 0)
    else:
        answer(2, "a")
    assert room.students.view(ana).is_revealed
    for is_guided in (False, True):
        room.teachers.guide(key, is_guided=is_guided)
        with pytest.raises(ClassroomError, match="the right answer has been shown"):
            answer(0, "b")
        assert not room.students.view(ana).may_answer


def test_an_answer_that_was_given_before_everybody_walked_alone_is_final(
    room: Classroom, key: TeacherKey, ana, answer: Answer
) -> None:
    answer(2, "a")
    room.teachers.guide(key, is_guided=False)
    assert room.students.view(ana).truth is not None
    room.teachers.guide(key, is_guided=True)
    with pytest.raises(ClassroomError, match="the right answer has been shown"):
        answer(0, "b")


@pytest.mark.parametrize(("text", "is_picked"), [("Other.", False), ("Mine.", True)])
def test_a_text_that_was_picked_waits_again_once_it_is_another(room: Classroom, lesson, text, is_picked) -> None:
    asked = replace(lesson.steps[0], question=Question(kind=TEXT, ask="Why?"))
    key = room.teachers.start(replace(lesson, steps=(asked,)))
    room.teachers.open(key)
    token = room.students.join(key.code, "Ana").token
    room.students.answer(token, 0, "Mine.", in_round=BEFORE, client_id="a")
    (said,) = room.teachers.view(key).summaries[BEFORE].texts
    room.teachers.pick(key, said.id, is_picked=True)
    room.students.answer(token, 0, text, in_round=BEFORE, client_id="b")
    (said,) = room.teachers.view(key).summaries[BEFORE].texts
    assert (said.text, said.is_picked) == (text, is_picked)


def test_the_last_answer_counts_over_two_fronts(room: Classroom, key: TeacherKey, ana: str, tmp_path: Path) -> None:
    other = Classroom(str(tmp_path / "classes.sqlite"), lambda link: None, clock=lambda: 1_800_000_000.0)
    change_everywhere((room, other), ana)
    assert other.teachers.view(key).summaries[BEFORE].answered == 1
    other.close()
