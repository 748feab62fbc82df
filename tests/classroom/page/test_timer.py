"""The timer of an open question, as the teacher sets it and as it is counted down on each screen."""

import re
from dataclasses import replace

import pytest

from attnviz.classroom.page import dates
from attnviz.classroom.page.seat import STUDENT, TEACHER, Seat
from attnviz.lessons.reading import read
from tests.classroom.page.class_page import sent_text
from tests.classroom.page.conftest import LESSON


@pytest.mark.parametrize("page", ["class", "heads"])
def test_a_teacher_sets_it_and_takes_it_away(sit, classes, key, page: str) -> None:
    classes.teachers.open(key)
    app = sit(page, Seat(key.code, TEACHER, key.secret))
    assert "class-countdown" not in sent_text(app)
    app = app.button(key="class-timer-2").click().run()
    assert not app.exception
    assert re.search(r"(2:00|1:5\d) left", sent_text(app))
    app = app.button(key="class-timer-none").click().run()
    assert "class-countdown" not in sent_text(app)
    classes.teachers.reveal(key)
    assert not [button for button in app.run().button if button.key == "class-timer-2"]


def test_a_student_sees_the_same_and_then_that_time_is_up(sit, classes, key, monkeypatch) -> None:
    token = classes.students.join(key.code, "Ann").token
    classes.teachers.open(key)
    classes.teachers.set_timer(key, minutes=10)
    app = sit("heads", Seat(key.code, STUDENT, token))
    assert re.search(r"(10:00|9:5\d) left", sent_text(app))
    ends = classes.students.view(token).ends
    for now, said in (
        (ends - 60.5, "1:01 left"),
        (ends - 9, "0:09 left"),
        (ends, "Time is up"),
        (ends + 99, "Time is"),
    ):
        monkeypatch.setattr(dates, "now", lambda now=now: now)
        assert said in sent_text(app.run())
    assert app.button(key="class-submit"), "nothing has closed"


def test_a_student_reads_it_in_the_lesson_s_language(sit, classes) -> None:
    key = classes.teachers.start(replace(read(LESSON), language="de"))
    token = classes.students.join(key.code, "Ann").token
    classes.teachers.open(key)
    classes.teachers.set_timer(key, minutes=10)
    app = sit("heads", Seat(key.code, STUDENT, token))
    assert re.search(r"Noch (10:00|9:5\d)", sent_text(app))
