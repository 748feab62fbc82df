"""Answers of a class as files for a spreadsheet, and counted."""

import csv
import io
from dataclasses import replace

import pytest

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, BEFORE, BothRounds, WrittenText
from attnviz.classroom.table_file import AnswerLine, AxisTexts, answers_file
from attnviz.classroom.teacher_view import Answered, both_rounds, summary
from attnviz.lessons.question import Option, Question
from tests.classroom.lesson import choices, one_step_lesson


def test_no_cell_of_the_table_is_a_formula(room: Classroom) -> None:
    key = room.teachers.start(one_step_lesson(Question("text", "?")))
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
    key = room.teachers.start(one_step_lesson(question))
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
        ("Ana", "1", "first", "red"),
        ("Ben", "1", "first", "green"),
        ("'=Cleo", "1", "", "did not answer"),
        ("Ana", "2", "first", "green"),
        ("Ana", "2", "second", "blue"),
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
    drawn = rows_of(answers_file(one_step_lesson(Question("row", "?", row="0")), lines, axes))
    assert drawn[0]["answer"] == "0 “The”: 0.7500; 1 “red”: 0.2500"
    thirds = rows_of(
        answers_file(one_step_lesson(Question("row", "?", row="0")), [replace(lines[0], given=[1.0, 1.0, 1.0])], axes)
    )
    assert thirds[0]["answer"] == "0 “The”: 0.3334; 1 “red”: 0.3333; 2: 0.3333"
    lines = [AnswerLine("Ana", 0, BEFORE, [[0, 1], [1, 7]], 0.5, 0, 1.0)]
    clicked = rows_of(answers_file(one_step_lesson(Question("cell", "?", most=2)), lines, axes))
    assert clicked[0]["answer"] == "row 0 “chien → rouge”, key 1 “red”; row 1 “rouge → dort”, key 7"


def make_answers(*given) -> list[Answered]:
    return [Answered(at, one, None if one is None else 0.5) for at, one in enumerate(given)]


def test_what_a_class_clicked_drew_and_chose_is_counted() -> None:
    cells = summary(Question("cell", "?", most=2), make_answers([[0, 1], [2, 3]], [[2, 3], [4, 5]], None))
    assert cells.cells == {(0, 1): 1, (2, 3): 2, (4, 5): 1}
    assert (cells.answered, cells.skipped, cells.right, cells.mean_score) == (2, 1, 0, 0.5)
    row = summary(Question("row", "?", row="0"), make_answers([1, 0, 0], [0, 3, 0], [0, 0, 5], [2, 2, 0], [1, 1]))
    assert row.row == pytest.approx((3 / 8, 3 / 8, 2 / 8))
    heads = summary(Question("head", "?", heads=((0, 1), (2, 3))), make_answers([0, 1], [0, 1], [2, 3]))
    assert heads.heads == {(0, 1): 2, (2, 3): 1}
    options = (Option("a"), Option("b"), Option("c"))
    assert summary(Question("choice", "?", options=options), make_answers(2, 2, 0)).options == (1, 0, 2)
    assert summary(Question("token", "?", row="0", options=options), make_answers(1)).options == (0, 1, 0)
    assert summary(Question("number", "?"), make_answers(1, -0.5)).numbers == (1, -0.5)
    assert summary(Question("translation", "?"), make_answers("<b>")).texts == (WrittenText(0, "<b>"),)


def test_both_rounds_are_compared_over_those_who_answered_both() -> None:
    first, second = {1: 1.0, 2: 0.5, 3: 0.0, 4: None}, {1: 1.0, 2: 0.95, 4: 1.0, 5: 1.0}
    assert both_rounds(first, second) == BothRounds(members=2, first=1, second=2)
    assert both_rounds(first, {5: 1.0}) is None
