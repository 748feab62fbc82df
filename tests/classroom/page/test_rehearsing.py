"""A rehearsal on the teacher's page: from an empty class, by invented students, to the reveal and back."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom import instance
from attnviz.classroom.codes import is_rehearsal
from attnviz.classroom.errors import ClassGoneError
from attnviz.classroom.page.room import rehearsals
from attnviz.classroom.page.seat import TEACHER, Seat
from attnviz.classroom.rehearsal import rehearsals as module
from attnviz.classroom.state import TeacherKey
from tests.classroom.conftest import Clock
from tests.classroom.page.class_page import join, page_text, sent_text

SIZE = 12
MARK = "Rehearsal: all students and answers are invented"


@pytest.fixture
def clock(classes, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give this test's rehearsals a clock that the test moves."""
    clock = Clock()
    made = module.Rehearsals(lambda link: None, clock=clock)
    monkeypatch.setattr(instance, "_rehearsals", [made])
    return clock


@pytest.fixture
def rehearsing(sit, key, clock):
    """Provide the console of a rehearsal that was just begun from the empty class."""
    app = sit("class", Seat(key.code, TEACHER, key.secret))
    app.number_input(key="class-rehearse-size").set_value(SIZE).run()
    return app.button(key="class-rehearse").click().run()


def count_answered(app: AppTest) -> int:
    """How many students are listed as having answered."""
    return sum(str(part.proto).count(">✓") + str(part.proto).count(r">\342\234\223") for part in app.main)


def later(app: AppTest, clock: Clock) -> AppTest:
    """Move the time on until all invented students have answered, and run the page again."""
    clock.now += 200
    return app.run()


def test_a_lesson_is_rehearsed_to_its_reveal(rehearsing, clock) -> None:
    app = rehearsing
    assert is_rehearsal(app.query_params["class"])
    assert MARK in page_text(app)
    assert f"{SIZE} invented students here, {SIZE} in all" in sent_text(app)
    assert "Invented 7" in sent_text(app)
    app = later(app.button(key="class-open").click().run(), clock)
    assert "invented students have answered · open" in sent_text(app)
    assert count_answered(app) == SIZE - 1, "one never answers"
    app = later(app.button(key="class-ask-again").click().run(), clock)
    app.button(key="class-reveal").click().run()
    assert "secret reason" in page_text(app)
    assert "of 11 invented students right" in sent_text(app).replace("</b>", "")
    assert "invented students who answered both" in sent_text(app)
    assert MARK in page_text(app)
    app = app.button(key="class-next").click().run()
    app = later(app.button(key="class-open").click().run(), clock)
    assert not app.exception
    assert count_answered(app) == SIZE - 1


def test_the_class_is_empty_after_its_rehearsal(rehearsing, classes, key, clock) -> None:
    app, rehearsed = later(rehearsing, clock), rehearsing.query_params["class"]
    app.button(key="class-rehearse-stop").click().run()
    assert not app.exception
    assert app.query_params["class"] == key.code
    assert "0 here, 0 in all" in sent_text(app)
    assert MARK not in page_text(app)
    assert classes.teachers.view(key).members == ()
    with pytest.raises(ClassGoneError):
        rehearsals().catch_up(TeacherKey(rehearsed, ""))


def test_a_rehearsal_has_no_files_and_no_link_for_students(rehearsing) -> None:
    keys = {button.key for button in rehearsing.button}
    assert "class-end" in keys
    assert not keys & {"class-purge", "class-csv", "class-grades"}
    assert not rehearsing.get("download_button")


def test_the_pace_that_was_chosen_in_the_rehearsal_is_the_classs(rehearsing, classes, key) -> None:
    app = rehearsing
    app.segmented_control(key="class-mode").set_value("alone").run()
    app.button(key="class-rehearse-stop").click().run()
    assert not classes.teachers.view(key).is_guided


def test_the_code_of_a_rehearsal_is_refused_in_a_sentence(rehearsing, open_page) -> None:
    app = join(open_page("class"), rehearsing.query_params["class"], "Ann")
    assert not app.exception
    assert "This is the code of a rehearsal, whose students are invented: nobody else can join it." in page_text(app)
    assert len(app.error) == 1


def test_a_rehearsal_that_is_gone_says_so(rehearsing) -> None:
    instance.close()
    app = rehearsing.run()
    assert not app.exception
    assert "This rehearsal no longer exists" in page_text(app)


def test_a_class_in_which_somebody_is_offers_none(sit, classes, key) -> None:
    own = Seat(key.code, TEACHER, key.secret)
    assert [button for button in sit("class", own).button if button.key == "class-rehearse"]
    classes.students.join(key.code, "Ann")
    assert not [button for button in sit("class", own).button if button.key == "class-rehearse"]
