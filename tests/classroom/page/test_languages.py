"""All texts for a student of a class are in the language of its lesson, from the join form on."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom.joining import FairJoining
from attnviz.classroom.page.seat import STUDENT, TEACHER, Seat
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.reading import read
from tests.classroom.page.class_page import page_text
from tests.classroom.page.conftest import LESSON


@pytest.fixture
def french(classes: Classroom) -> TeacherKey:
    return classes.teachers.start(read(LESSON.replace("language: en", "language: fr")))


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def test_the_page_of_a_student_in_a_french_class_is_french(sit, classes: Classroom, french: TeacherKey) -> None:
    token = classes.students.join(french.code, "Ann").token
    app = sit("class", Seat(french.code, STUDENT, token))
    assert "Attends que l’enseignant ouvre la première étape." in page_text(app)
    classes.teachers.open(french)
    app = sit("heads", Seat(french.code, STUDENT, token))
    assert "Répondre" in labels(app)
    assert "Caché jusqu’à ce que l’enseignant montre la réponse." in page_text(app)
    app.button(key="class-submit").click().run()
    assert "Choisis d’abord une des réponses." in page_text(app)
    app.radio[0].set_value(0).run()
    app.button(key="class-submit").click().run()
    assert "Ta réponse est enregistrée\u00a0: two. Tu peux la changer" in page_text(app)
    assert "Changer la réponse" in labels(app)
    classes.teachers.reveal(french)
    app.run()
    assert "Ta réponse\u00a0: «\u00a0two\u00a0»." in page_text(app)


def test_the_form_is_in_the_language_of_the_class_that_the_link_names(open_page, french: TeacherKey) -> None:
    app = open_page("class", **{"class": french.code})
    assert "Rejoindre" in labels(app)
    assert "Ce qui est enregistré" in page_text(app)
    app.text_input(key="class-nickname").set_value(" ")
    next(button for button in app.button if button.label == "Rejoindre").click().run()
    assert "Écris un pseudo avec au moins une lettre" in page_text(app)


@pytest.mark.parametrize("code", ["", "BCDFGHJK"])
def test_without_a_class_the_form_is_english(open_page, french: TeacherKey, code: str) -> None:
    app = open_page("class", **({"class": code} if code else {}))
    assert "Join" in labels(app)


def test_a_wrong_code_in_a_link_is_looked_up_once(open_page, classes: Classroom, monkeypatch) -> None:
    wrong: list[str] = []
    monkeypatch.setattr(FairJoining, "count_wrong", lambda _, address: wrong.append(address))
    app = open_page("class", **{"class": "BCDFGHJK"})
    app.run()
    assert len(wrong) == 1


def test_a_deleted_class_says_so_in_its_language(sit, classes: Classroom, french: TeacherKey) -> None:
    app = sit("class", Seat(french.code, STUDENT, classes.students.join(french.code, "Ann").token))
    classes.teachers.purge(french)
    app.run()
    assert "Cette classe est finie et supprimée" in page_text(app)
    assert "Rejoindre" in labels(app)


def test_the_teacher_of_a_french_class_has_english_controls(sit, french: TeacherKey) -> None:
    app = sit("class", Seat(french.code, TEACHER, french.secret))
    assert {"Open", "Next", "Back"} <= set(labels(app))
