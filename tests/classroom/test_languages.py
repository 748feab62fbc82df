"""The language of a class, by its code, and what students are told as sentences that can be translated."""

from dataclasses import replace

import pytest

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.room import Classroom
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.phrases import sentence, translate


def test_a_class_has_the_language_of_its_lesson(room: Classroom, lesson: Lesson) -> None:
    key = room.teachers.start(replace(lesson, language="de"))
    assert room.students.language(key.code) == "de"
    assert room.students.view(room.students.join(key.code, "Ana").token).language == "de"


def test_asking_for_the_language_of_a_wrong_code_is_a_try(room: Classroom, lesson: Lesson) -> None:
    key = room.teachers.start(lesson)
    for _ in range(20):
        with pytest.raises(ClassGoneError):
            room.students.language("BCDFGHJK", address="192.0.2.1")
    for ask in (room.students.language, lambda code, address: room.students.join(code, "Ana", address=address)):
        with pytest.raises(ClassroomError, match="wrong codes were tried from here"):
            ask(key.code, address="192.0.2.1")
    assert room.students.language(key.code, address="192.0.2.2") == "en"


def test_a_rehearsals_code_is_no_try(room: Classroom, lesson: Lesson) -> None:
    key = room.teachers.start(lesson)
    for _ in range(21):
        with pytest.raises(ClassGoneError):
            room.students.language("ACDFGHJK", address="192.0.2.1")
    assert room.students.language(key.code, address="192.0.2.1") == "en"


def test_what_a_score_refuses_can_still_be_translated(room: Classroom, lesson: Lesson) -> None:
    key = room.teachers.start(lesson)
    token = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    with pytest.raises(ClassroomError) as refusal:
        room.students.answer(token, 0, None, in_round="before", client_id="1")
    assert translate(sentence(refusal.value), "de") == "Wähle zuerst eine der Antworten."


def test_a_late_answer_is_refused_in_two_sentences(room: Classroom, lesson: Lesson) -> None:
    key = room.teachers.start(lesson)
    token = room.students.join(key.code, "Ana").token
    room.teachers.open(key)
    room.students.answer(token, 0, 1, in_round="before", client_id="1")
    room.teachers.end(key)
    with pytest.raises(ClassroomError) as refusal:
        room.students.answer(token, 0, 2, in_round="before", client_id="2")
    assert translate(sentence(refusal.value), "es").endswith("ya no admite respuestas. Cuenta tu respuesta anterior.")
