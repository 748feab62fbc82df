"""What a teacher sees of a class, and what becomes of its data."""

import csv
import io
from dataclasses import replace

import pytest

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, BEFORE, BothRounds, TeacherKey, WrittenText
from attnviz.classroom.table_file import AnswerLine, AxisTexts, answers_file
from attnviz.classroom.teacher_view import Answered, both_rounds, summary
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.library import shelf
from attnviz.lessons.question import Option, Question, Range
from tests.classroom.lesson import choices

DAY = 86_400


def of_one(question: Question) -> Lesson:
    return Lesson("one", "One", 5, "tests", "en", (LessonStep("Only", "", None, question),))


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
    with pytest.raises(ClassroomError, match="Too many classes were started from here: try again in an hour"):
        room.teachers.start(large, address="192.0.2.1")
    for number in range(60):
        room.teachers.start(choices(3), address=f"2001:db8::{number:x}")
    with pytest.raises(ClassroomError, match="Too many classes were started from here: try again in an hour"):
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


def test_who_is_removed_is_gone_with_all_they_wrote(room: Classroom) -> None:
    key = room.teachers.start(of_one(Question("text", "?")))
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


def test_no_cell_of_the_table_is_a_formula(room: Classroom) -> None:
    key = room.teachers.start(of_one(Question("text", "?")))
    room.teachers.open(key)
    wild = ["=HYPERLINK(1)", "+1", "@SUM(A1)", " =1", "＝1", 'a "quoted", text\nof two lines', "-"]
    inside = ["x;=1+1;", "x\t=1", "x\n=1", "\t=1"]
    for number, text in enumerate([*wild, *inside]):
        token = room.students.join(key.code, f"=Student {number}").token
        room.students.answer(token, 0, text, in_round=BEFORE, client_id="a")
    table = room.teachers.answers_csv(key)
    assert table.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"), newline="")))
    assert [row["answer"].removeprefix("'") for row in rows[: len(wild)]] == wild
    assert [row["answer"] for row in rows[len(wild) :]] == ["x;'=1+1;", "x\t'=1", "x\n'=1", "'\t'=1"]
    assert [row["answer"] for row in rows if row["answer"].lstrip(" ")[0] in "=+-@\t＝"] == []
    assert {row["nickname"][:2] for row in rows} == {"'="}
    assert {(row["score"], row["right"]) for row in rows} == {("", "")}


def test_a_number_in_the_table_stays_one(room: Classroom) -> None:
    question = Question("number", "?", measure="run_score", more={"run": "french", "score": "own_prefix"})
    key = room.teachers.start(of_one(question))
    room.teachers.open(key)
    token = room.students.join(key.code, "Ana").token
    room.students.answer(token, 0, -2.5, in_round=BEFORE, client_id="a")
    assert b",-2.5," in room.teachers.answers_csv(key)


def rows_of(table: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"), newline="")))


def test_the_tables_name_who_did_not_answer_and_grade_every_student(room: Classroom) -> None:
    key = room.teachers.start(choices(3))
    ana, ben, _ = (room.students.join(key.code, name).token for name in ("Ana", "Ben", "=Cleo"))
    for at, given in ((0, {ana: 0, ben: 1}), (1, {ana: 1})):
        room.teachers.go(key, at)
        room.teachers.open(key)
        for token, option in given.items():
            room.students.answer(token, at, option, in_round=BEFORE, client_id="a")
    room.teachers.ask_again(key)
    room.students.answer(ana, 1, 2, in_round=AFTER, client_id="b")

    said = [
        (row["nickname"], row["step"], row["round"], row["answer"]) for row in rows_of(room.teachers.answers_csv(key))
    ]
    assert said == [
        ("Ana", "1", "before", "red"),
        ("Ben", "1", "before", "green"),
        ("'=Cleo", "1", "", "did not answer"),
        ("Ana", "2", "before", "green"),
        ("Ana", "2", "after", "blue"),
        ("Ben", "2", "", "did not answer"),
        ("'=Cleo", "2", "", "did not answer"),
    ]
    assert [tuple(row.values()) for row in rows_of(room.teachers.grades_csv(key))] == [
        ("'=Cleo", "0.00", "0", "2", "0", ""),
        ("Ana", "50.00", "2", "2", "1", "0.5000"),
        ("Ben", "0.00", "1", "2", "0", "0.0000"),
    ]


def test_an_answer_names_its_tokens_and_a_row_sums_to_one() -> None:
    axes = {0: AxisTexts(["chien → rouge", "rouge → dort"], ["The", "red"])}
    lines = [AnswerLine("Ana", 0, BEFORE, [3.0, 1.0], 0.5, 0, 1.0)]
    drawn = rows_of(answers_file(of_one(Question("row", "?", row="0")), lines, axes))
    assert drawn[0]["answer"] == "0 “The”: 0.7500; 1 “red”: 0.2500"
    thirds = rows_of(
        answers_file(of_one(Question("row", "?", row="0")), [replace(lines[0], given=[1.0, 1.0, 1.0])], axes)
    )
    assert thirds[0]["answer"] == "0 “The”: 0.3334; 1 “red”: 0.3333; 2: 0.3333"
    lines = [AnswerLine("Ana", 0, BEFORE, [[0, 1], [1, 7]], 0.5, 0, 1.0)]
    clicked = rows_of(answers_file(of_one(Question("cell", "?", most=2)), lines, axes))
    assert clicked[0]["answer"] == "row 0 “chien → rouge”, key 1 “red”; row 1 “rouge → dort”, key 7"


def answered(*given) -> list[Answered]:
    return [Answered(at, one, None if one is None else 0.5) for at, one in enumerate(given)]


def test_what_a_class_clicked_drew_and_chose_is_counted() -> None:
    cells = summary(Question("cell", "?", most=2), answered([[0, 1], [2, 3]], [[2, 3], [4, 5]], None))
    assert cells.cells == {(0, 1): 1, (2, 3): 2, (4, 5): 1}
    assert (cells.answered, cells.skipped, cells.right, cells.mean_score) == (2, 1, 0, 0.5)
    row = summary(Question("row", "?", row="0"), answered([1, 0, 0], [0, 3, 0], [0, 0, 5], [2, 2, 0], [1, 1]))
    assert row.row == pytest.approx((3 / 8, 3 / 8, 2 / 8))
    heads = summary(Question("head", "?", heads=((0, 1), (2, 3))), answered([0, 1], [0, 1], [2, 3]))
    assert heads.heads == {(0, 1): 2, (2, 3): 1}
    options = (Option("a"), Option("b"), Option("c"))
    assert summary(Question("choice", "?", options=options), answered(2, 2, 0)).options == (1, 0, 2)
    assert summary(Question("token", "?", row="0", options=options), answered(1)).options == (0, 1, 0)
    assert summary(Question("number", "?"), answered(1, -0.5)).numbers == (1, -0.5)
    assert summary(Question("translation", "?"), answered("<b>")).texts == (WrittenText(0, "<b>"),)


def test_both_rounds_are_compared_over_those_who_answered_both() -> None:
    first, second = {1: 1.0, 2: 0.5, 3: 0.0, 4: None}, {1: 1.0, 2: 0.95, 4: 1.0, 5: 1.0}
    assert both_rounds(first, second) == BothRounds(members=2, first=1, second=2)
    assert both_rounds(first, {5: 1.0}) is None


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
    keys = [room.teachers.start(of_one(Question("text", "?"))) for _ in range(2)]
    token = room.students.join(keys[0].code, "Ana").token
    room.teachers.open(keys[0])
    room.students.answer(token, 0, "So.", in_round=BEFORE, client_id="a")
    (said,) = room.teachers.view(keys[0]).summaries[BEFORE].texts
    assert not said.is_picked
    with pytest.raises(ClassroomError, match="not there any more"):
        room.teachers.pick(keys[1], said.id, is_picked=True)
    room.teachers.pick(keys[0], said.id, is_picked=True)
    assert room.teachers.view(keys[0]).summaries[BEFORE].texts == (WrittenText(said.id, "So.", True),)


def test_a_step_whose_answer_cannot_be_computed_says_why(room: Classroom) -> None:
    key = room.teachers.start(of_one(Question("cell", "?")))
    room.teachers.open(key)
    view = room.teachers.view(key)
    assert view.truth is None
    assert "put a link into this step" in view.problem
    token = room.students.join(key.code, "Ana").token
    with pytest.raises(ClassroomError, match="cannot be computed here"):
        room.students.answer(token, 0, [[0, 0]], in_round=BEFORE, client_id="a")
    room.teachers.reveal(key)
    assert "put a link into this step" in room.students.view(token).problem
