"""A rehearsal as its teacher sees it; and that nothing of it is where real classes are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from attnviz.classroom.codes import is_rehearsal, read_code
from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.rehearsal import rehearsals as module
from attnviz.classroom.rehearsal.rehearsals import HOURS, Rehearsals, finished_turns, turns, walks
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, BEFORE, TeacherKey, TeacherView
from attnviz.lessons.lesson import Lesson, LessonStep
from attnviz.lessons.question import Option, Question

SIZE = 30
HINTED = Question("choice", "?", options=(Option("a"), Option("b"), Option("c")), right=1, hints=("Think.",))
LESSON = Lesson(
    "hinted", "Hinted", 5, "tests", "en",
    (
        LessonStep("One", "", None, HINTED),
        LessonStep("Two", ""),
        LessonStep("Three", "", None, Question("text", "Why?")),
    ),
)  # fmt: skip


@pytest.fixture
def rehearsals(clock) -> Iterator[Rehearsals]:
    rehearsals = Rehearsals(lambda link: None, clock=clock)
    yield rehearsals
    rehearsals.close()


@pytest.fixture
def class_key(room: Classroom) -> TeacherKey:
    return room.teachers.start(LESSON)


@pytest.fixture
def key(rehearsals: Rehearsals, room: Classroom, class_key: TeacherKey) -> TeacherKey:
    return rehearsals.start(class_key, room.teachers.view(class_key), SIZE)


def teacher_view(rehearsals: Rehearsals, key: TeacherKey) -> TeacherView:
    """Return the teacher's view after the invented students have caught up."""
    rehearsals.catch_up(key)
    return rehearsals.teachers.view(key)


def nicknames_that_answered(view: TeacherView) -> set[str]:
    return {line.nickname for line in view.members if view.round in line.answered}


def due(key: TeacherKey, at: int, in_round: str, seconds: float) -> set[str]:
    return {f"Invented {turn.student}" for turn in finished_turns(turns(key.code, SIZE, at, in_round), seconds)}


def test_everybody_there_is_invented_by_name_and_stays_there(rehearsals: Rehearsals, key: TeacherKey, clock) -> None:
    view = teacher_view(rehearsals, key)
    assert view.is_rehearsal
    assert [line.nickname for line in view.members] == [f"Invented {number}" for number in range(1, SIZE + 1)]
    for _ in range(20):
        clock.now += 20
        rehearsals.catch_up(key)
        rehearsals._room._presence.flush(now=True)
    assert all(line.is_here for line in rehearsals.teachers.view(key).members)


def test_answers_come_when_the_question_is_open_at_everybodys_pace(rehearsals, key, clock) -> None:
    clock.now += 100
    assert not nicknames_that_answered(teacher_view(rehearsals, key)), "the step is closed"
    rehearsals.teachers.open(key)
    assert not nicknames_that_answered(teacher_view(rehearsals, key))
    clock.now += 12
    assert nicknames_that_answered(teacher_view(rehearsals, key)) == due(key, 0, BEFORE, 12) != set()
    rehearsals.teachers.close(key)
    clock.now += 20
    assert nicknames_that_answered(teacher_view(rehearsals, key)) == due(key, 0, BEFORE, 12), "late answers are refused"


def test_a_lesson_is_rehearsed_to_its_end(rehearsals: Rehearsals, key: TeacherKey, clock) -> None:
    teachers = rehearsals.teachers
    teachers.open(key)
    teacher_view(rehearsals, key)
    clock.now += 120
    view = teacher_view(rehearsals, key)
    assert view.hinted > 0
    first = view.summaries[BEFORE]
    assert 0 < first.right < first.answered == SIZE - 2

    teachers.ask_again(key)
    teacher_view(rehearsals, key)
    clock.now += 120
    view = teacher_view(rehearsals, key)
    assert view.both is not None
    assert view.both.second > view.both.first

    teachers.reveal(key)
    assert teacher_view(rehearsals, key).summaries[AFTER].right > first.right
    teachers.go(key, 1)
    assert teacher_view(rehearsals, key).truth is None, "a step without a question"
    teachers.go(key, 2)
    teachers.open(key)
    teacher_view(rehearsals, key)
    clock.now += 120
    texts = teacher_view(rehearsals, key).summaries[BEFORE].texts
    assert len(texts) == SIZE - 2
    assert all(one.text.startswith("Invented: ") for one in texts)
    teachers.end(key)
    assert teacher_view(rehearsals, key).is_over


def test_everybody_alone_walks_at_their_own_pace(rehearsals: Rehearsals, key: TeacherKey, clock) -> None:
    rehearsals.teachers.guide(key, is_guided=False)
    for seconds in (0, 20, 600):
        clock.now += seconds
        rehearsals.catch_up(key)
        by_now = walks(key.code, SIZE, [True, False, True], 620 if seconds == 600 else seconds)
        for at in (0, 2):
            found = {line.nickname for line in rehearsals.teachers.view(key, at).members if line.answered}
            assert found == {f"Invented {walk.student}" for walk in by_now if at in walk.answered}
    assert found
    rehearsals._room._presence.flush(now=True)
    at = [line.at for line in rehearsals.teachers.view(key).members]
    assert at == [walk.at for walk in by_now]


def test_a_removed_student_is_gone_and_the_others_go_on(rehearsals: Rehearsals, key: TeacherKey, clock) -> None:
    rehearsals.teachers.open(key)
    teacher_view(rehearsals, key)
    rehearsals.teachers.remove(key, teacher_view(rehearsals, key).members[0].id)
    clock.now += 200
    view = teacher_view(rehearsals, key)
    assert len(view.members) == SIZE - 1
    assert len(nicknames_that_answered(view)) >= SIZE - 3


def test_nobody_else_can_join_and_it_is_said_why_however_often_it_is_tried(room: Classroom, key: TeacherKey) -> None:
    for number in range(30):
        with pytest.raises(ClassroomError, match="This is the code of a rehearsal, whose students are invented"):
            room.students.join(f" {key.code[:4].lower()} {key.code[4:]}", f"Ana {number}", address="192.0.2.1")
    real = room.teachers.start(LESSON)
    assert room.students.join(real.code, "Ana", address="192.0.2.1").nickname == "Ana"


def test_nothing_of_a_rehearsal_is_in_the_real_database(
    rehearsals, room, key, class_key, clock, tmp_path: Path
) -> None:
    rehearsals.teachers.open(key)
    teacher_view(rehearsals, key)
    clock.now += 120
    assert nicknames_that_answered(teacher_view(rehearsals, key))
    with create_engine(f"sqlite:///{tmp_path / 'classes.sqlite'}").connect() as connection:
        count = {
            name: connection.scalar(text(f"SELECT count(*) FROM {name}")) for name in ("classes", "members", "answers")
        }
    assert count == {"classes": 1, "members": 0, "answers": 0}
    assert b"Invented" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert room.teachers.grades_csv(class_key).decode("utf-8-sig").splitlines()[1:] == []
    for file in (rehearsals.teachers.answers_csv, rehearsals.teachers.grades_csv):
        with pytest.raises(ClassroomError, match="students of a rehearsal are invented, so there is no file"):
            file(key)
    with pytest.raises(ClassGoneError):
        room.teachers.view(key)


def test_a_stopped_rehearsal_is_deleted_and_its_class_is_empty_and_as_it_was(rehearsals, room, key, class_key) -> None:
    assert rehearsals.stop(key) == class_key
    for ask in (rehearsals.teachers.view, rehearsals.catch_up, rehearsals.stop):
        with pytest.raises(ClassGoneError):
            ask(key)
    assert room.teachers.view(class_key).members == ()
    assert room.students.join(class_key.code, "Ana").nickname == "Ana"


def test_a_rehearsal_that_nobody_stops_ends_after_some_hours(rehearsals: Rehearsals, key: TeacherKey, clock) -> None:
    clock.now += HOURS * 3600 + 1
    with pytest.raises(ClassGoneError, match="This rehearsal no longer exists"):
        rehearsals.catch_up(key)


def test_the_rehearsal_that_nobody_looks_at_makes_room(rehearsals, room, key, class_key, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_REHEARSALS", 2)
    found = room.teachers.view(class_key)
    left = rehearsals.start(class_key, found, 1)
    rehearsals.catch_up(key)
    new = rehearsals.start(class_key, found, 1)
    rehearsals.catch_up(key)
    rehearsals.catch_up(new)
    with pytest.raises(ClassGoneError, match="This rehearsal no longer exists"):
        rehearsals.catch_up(left)


@pytest.mark.parametrize("size", [0, -1, 31])
def test_a_rehearsal_has_one_to_thirty_students(rehearsals, room, class_key, size: int) -> None:
    with pytest.raises(ClassroomError, match="1 to 30 invented students"):
        rehearsals.start(class_key, room.teachers.view(class_key), size)


def test_a_code_says_whether_it_is_a_rehearsals(key: TeacherKey, class_key: TeacherKey) -> None:
    assert is_rehearsal(key.code)
    assert not is_rehearsal(class_key.code)
    assert read_code(f"{key.code[:4]} {key.code[4:].lower()}") == key.code
    assert read_code("AACDFGHJ") == ""
