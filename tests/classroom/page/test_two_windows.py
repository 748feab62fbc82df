"""A class in two windows: the teacher's picture follows the controls, a student's panel stays where it is."""

from attnviz.classroom.page.seat import STUDENT, TEACHER, Seat
from tests.classroom.page.class_page import page_text

NAME = "0123456789abcdef"


def test_the_teachers_picture_follows_the_controls_of_another_window(sit, classes, key) -> None:
    app = sit("heads", Seat(key.code, TEACHER, key.secret), beside=NAME, layer="0")
    assert app.query_params["layer"] == "0", "it stays where it is opened"
    classes.teachers.go(key, 1)
    app.run()
    assert not app.exception
    assert "Second" in page_text(app)
    assert (app.query_params["layer"], app.query_params["beside"]) == ("1", NAME)


def test_without_another_window_the_teachers_page_stays(sit, classes, key) -> None:
    app = sit("heads", Seat(key.code, TEACHER, key.secret), layer="0")
    classes.teachers.go(key, 1)
    assert app.run().query_params["layer"] == "0"


def test_a_students_panel_alone_stays_when_the_step_is_opened(sit, classes, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    app = sit("class", Seat(key.code, STUDENT, token), panel=NAME)
    classes.teachers.open(key)
    app.run()
    assert not app.exception
    assert "Two or three?" in page_text(app)
    assert app.query_params["panel"] == NAME
    assert "secret reason" not in page_text(app)


def test_the_teachers_panel_alone_is_the_console(sit, key) -> None:
    app = sit("class", Seat(key.code, TEACHER, key.secret), panel=NAME)
    labels = [button.label for button in app.button]
    assert "Open" in labels
    assert "Show this step’s picture" not in labels
