"""The database: made by two at once, locked, full, damaged, away, or another's."""

import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, event

from attnviz.classroom import instance
from attnviz.classroom.errors import ClassroomError, StoreError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE, TeacherKey
from attnviz.classroom.storage.store import Store
from attnviz.classroom.storage.tables import Table
from tests.classroom.lesson import choices
from tests.each_case import each_case


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "states" / "classes.sqlite"


def join_class(room: Classroom) -> tuple[TeacherKey, str]:
    key = room.teachers.start(choices(2), is_guided=False)
    return key, room.students.join(key.code, "Ana").token


def test_the_migrations_make_the_tables_that_the_code_uses(file: Path) -> None:
    Store(str(file)).close()
    with create_engine(f"sqlite:///{file}").connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []


def test_nobody_else_on_the_machine_reads_the_file(file: Path) -> None:
    Store(str(file)).close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_two_stores_that_start_together_make_one_database(file: Path) -> None:
    script = "import sys; from attnviz.classroom.storage.store import Store; sys.stdin.read(1); Store(sys.argv[1])"
    command = [sys.executable, "-W", "error", "-c", script, str(file)]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    with ThreadPoolExecutor(len(started)) as pool:
        told = list(pool.map(lambda one: one.communicate(b"x", timeout=120), started))
    assert [one.returncode for one in started] == [0, 0], told
    with sqlite3.connect(file) as connection:
        assert connection.execute("select version_num from alembic_version").fetchall() == [("0005",)]
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_commit_is_on_the_disk_before_it_is_acknowledged(file: Path) -> None:
    store = Store(str(file))
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql("pragma synchronous").scalar() == 2, "FULL"
    store.close()


def test_a_locked_database_is_waited_for_then_said_and_loses_nothing(file: Path, monkeypatch) -> None:
    monkeypatch.setattr("attnviz.classroom.storage.database._PRAGMAS", ("PRAGMA busy_timeout = 50",))
    room = Classroom(str(file), lambda link: None)
    key, ana = join_class(room)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is busy"):
        room.students.answer(ana, 0, 0, in_round=BEFORE, client_id="a")
    assert room.students.view(ana).has_answered is False, "reading goes on"
    other.execute("ROLLBACK")
    other.close()
    assert room.students.answer(ana, 0, 0, in_round=BEFORE, client_id="a").is_new
    assert room.teachers.view(key).summaries[BEFORE].answered == 1
    room.close()


def test_a_file_that_was_moved_takes_no_answers_until_it_is_back(file: Path) -> None:
    room = Classroom(str(file), lambda link: None)
    key, ana = join_class(room)
    room.students.answer(ana, 0, 2, in_round=BEFORE, client_id="a")
    room.teachers.go(key, 1)
    elsewhere = file.rename(file.with_name("moved"))
    for _ in range(2):
        with pytest.raises(StoreError, match="was moved or deleted, so this is not saved"):
            room.students.answer(ana, 1, 0, in_round=BEFORE, client_id="b")
        file.touch()  # another file there is not the one
    elsewhere.replace(file)
    assert room.students.answer(ana, 1, 0, in_round=BEFORE, client_id="b").is_new
    room.close()
    again = Classroom(str(file), lambda link: None)
    assert [again.teachers.view(key, at).summaries[BEFORE].answered for at in (0, 1)] == [1, 1]
    again.close()


def test_a_full_disk_is_said_and_what_was_acknowledged_is_there(file: Path) -> None:
    room = Classroom(str(file), lambda link: None)
    key, ana = join_class(room)
    room.students.answer(ana, 0, 2, in_round=BEFORE, client_id="a")
    pages = room._store._engine.connect().exec_driver_sql("pragma page_count").scalar()
    event.listen(room._store._engine, "begin", lambda one: one.exec_driver_sql(f"pragma max_page_count = {pages}"))
    with pytest.raises(StoreError, match="is full"):
        room.teachers.start(choices(60))
    room.close()
    again = Classroom(str(file), lambda link: None)
    assert again.students.view(ana, 0).given == 2
    assert again.teachers.view(key).summaries[BEFORE].answered == 1
    again.close()


@each_case(
    ("address", "words"),
    [
        ("mysql://user:secret@host/name", "names no database that classes can be stored in"),
        ("sqlite://", "names no database that classes can be stored in"),
        ("sqlite:///:memory:", "names no database that classes can be stored in"),
        ("nonsense://", "names no database"),
        ("://", "cannot be read"),
        ("/proc/nowhere/classes.sqlite", "cannot be stored in /proc/nowhere/classes.sqlite"),
        ("postgresql://ana:secret@127.0.0.1:1/classes", "does not answer"),
    ],
)
def test_an_address_that_is_none_is_said_without_its_password(address: str, words: str) -> None:
    with pytest.raises(ClassroomError, match=words) as refused:
        Store(address)
    assert "secret" not in str(refused.value)


def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("Not a database. " * 100)
    with pytest.raises(StoreError, match="is not a SQLite database"):
        Store(str(text))
    assert text.read_text() == "Not a database. " * 100


@pytest.mark.parametrize("revision", ["0004", "9999"], ids=["before 1.0", "newer"])
def test_a_database_of_another_version_is_refused(file: Path, revision: str) -> None:
    Store(str(file)).close()
    with sqlite3.connect(file) as connection:
        connection.execute("update alembic_version set version_num = ?", [revision])
    connection.close()
    before = file.read_bytes()
    with pytest.raises(ClassroomError, match="written by another version of attnviz"):
        Store(str(file))
    assert file.read_bytes() == before


def test_the_process_has_one_classroom_where_the_environment_says(file: Path, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_DATABASE", str(file))
    monkeypatch.setenv("ATTNVIZ_CLASS_DAYS", "two weeks")
    with pytest.raises(ClassroomError, match="ATTNVIZ_CLASS_DAYS is 'two weeks'"):
        instance.classroom(lambda link: None)
    monkeypatch.setenv("ATTNVIZ_CLASS_DAYS", "2")
    room = instance.classroom(lambda link: None)
    assert instance.classroom(lambda link: None) is room
    view = room.teachers.view(room.teachers.start(choices(1)))
    assert view.expires - view.created == 2 * 86_400
    instance.close()
    assert file.exists()
