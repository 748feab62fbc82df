"""A locked or missing database of classes: the pages say so."""

import sqlite3

import pytest

from attnviz.classroom import instance
from attnviz.classroom.page.seat import STUDENT, Seat
from tests.classroom.page.class_page import page_text


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the database give up on a lock at once."""
    wal = "PRAGMA journal_mode = WAL"
    monkeypatch.setattr("attnviz.classroom.storage.database._PRAGMAS", ("PRAGMA busy_timeout = 1", wal))
    monkeypatch.setattr("attnviz.classroom.storage.store._PAUSES", ())


def test_a_locked_database_is_a_sentence_and_the_answer_stays_until_it_is_saved(
    impatient, sit, key, classes, tmp_path
) -> None:
    token = classes.students.join(key.code, "Ann").token
    classes.teachers.open(key)
    app = sit("heads", Seat(key.code, STUDENT, token))
    app.radio[0].set_value(1).run()
    other = sqlite3.connect(tmp_path / "classes.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    app.button(key="class-submit").click().run()
    assert not app.exception
    assert "database is busy. Nothing is lost" in page_text(app)
    assert app.radio[0].value == 1
    other.execute("ROLLBACK")
    other.close()
    app.button(key="class-submit").click().run()
    assert "Your answer is in: three" in page_text(app)
    assert classes.teachers.view(key).summaries["before"].options == (0, 1)


def test_a_database_that_is_away_is_a_sentence(open_page, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_DATABASE", "mysql://nowhere")
    instance.close()
    app = open_page("class")
    assert not app.exception
    assert "ATTNVIZ_DATABASE" in page_text(app)
