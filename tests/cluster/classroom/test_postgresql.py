"""Classes in a real PostgreSQL: two servers at once, killed servers, and a database that goes away and comes back."""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import NullPool, create_engine, text

from attnviz.classroom.errors import ClassroomError, StoreError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import AFTER, BEFORE
from attnviz.classroom.storage.store import Store
from attnviz.classroom.storage.tables import Table
from tests.classroom.changing import change_everywhere
from tests.classroom.killing import STEPS, STUDENTS, lose_nothing
from tests.classroom.lesson import choices
from tests.classroom.worker import answer_all
from tests.cluster.classroom.postgresql import RunningPostgresql, find


@pytest.fixture(scope="module")
def postgresql() -> Iterator[RunningPostgresql]:
    programs = find()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with RunningPostgresql(programs, Path(folder)) as running:
            yield running


def test_fronts_that_start_together_make_one_database(postgresql: RunningPostgresql) -> None:
    script = "import sys; from attnviz.classroom.storage.store import Store; Store(sys.argv[1])"
    command = [sys.executable, "-W", "error", "-c", script, postgresql.address]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    told = [one.communicate(timeout=120) for one in started]
    assert [one.returncode for one in started] == [0, 0, 0], told
    with create_engine(postgresql.address, poolclass=NullPool).connect() as connection:
        assert connection.execute(text("select version_num from alembic_version")).scalars().all() == ["0005"]
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []


def test_a_killed_server_has_every_acknowledged_answer_once(postgresql: RunningPostgresql) -> None:
    lose_nothing(postgresql.address, kill_after=70)


def test_a_killed_database_has_every_acknowledged_answer_once(postgresql: RunningPostgresql) -> None:
    def kill_and_start() -> None:
        postgresql.kill()
        postgresql.start()

    lose_nothing(postgresql.address, kill_after=70, then=kill_and_start)


def test_a_database_killed_while_everybody_answers_comes_back_and_loses_nothing(postgresql: RunningPostgresql) -> None:
    room = Classroom(postgresql.address, lambda link: None)
    key = room.teachers.start(choices(STEPS), is_guided=False)
    tokens = [room.students.join(key.code, f"Student {number}").token for number in range(STUDENTS)]
    told: list[str] = []
    answering = threading.Thread(target=answer_all, args=(postgresql.address, tokens, STEPS, told.append))
    answering.start()
    while len(told) < 50:
        time.sleep(0.01)
    postgresql.kill()
    with pytest.raises(StoreError, match="does not answer"):
        room.students.view(tokens[0])
    postgresql.start()
    answering.join(timeout=120)
    assert len(told) == STUDENTS * STEPS
    for at in range(STEPS):
        assert room.teachers.view(key, at).summaries[BEFORE].answered == STUDENTS
    room.close()


def test_two_servers_agree_on_a_class(postgresql: RunningPostgresql) -> None:
    one, other = (Classroom(postgresql.address, lambda link: None) for _ in range(2))
    key = one.teachers.start(choices(2))
    token = one.students.join(key.code, "Ana").token
    with pytest.raises(ClassroomError, match="is called"):
        other.students.join(key.code, "ANA")
    before = other.students.heartbeat(token)
    one.teachers.open(key)
    time.sleep(0.6)
    assert other.students.heartbeat(token).shared > before.shared
    with ThreadPoolExecutor(2) as pool:
        sent = [pool.submit(room.students.answer, token, 0, 1, in_round=BEFORE, client_id="a") for room in (one, other)]
        assert sorted(told.result().is_new for told in sent) == [False, True]
    other.teachers.ask_again(key)
    assert one.students.view(token).round == AFTER
    other.teachers.purge(key)
    with pytest.raises(ClassroomError):
        one.students.view(token)
    one.close()
    other.close()


def test_the_last_answer_counts_over_two_servers(postgresql: RunningPostgresql) -> None:
    servers = Classroom(postgresql.address, lambda link: None), Classroom(postgresql.address, lambda link: None)
    key = servers[0].teachers.start(choices(2))
    token = servers[0].students.join(key.code, "Ana").token
    servers[0].teachers.open(key)
    change_everywhere(servers, token)
    assert servers[1].teachers.view(key).summaries[BEFORE].answered == 1
    for one in servers:
        one.close()


def test_a_row_that_another_keeps_locked_is_waited_for_then_said(postgresql: RunningPostgresql) -> None:
    room = Classroom(postgresql.address, lambda link: None)
    key = room.teachers.start(choices(1))
    with create_engine(postgresql.address, poolclass=NullPool).connect() as other:
        other.execute(text("select * from classes for update"))
        with pytest.raises(StoreError, match="is busy"):
            room.teachers.open(key)
    room.teachers.open(key)
    room.close()


def test_a_wrong_password_or_database_says_that_it_does_not_answer(postgresql: RunningPostgresql) -> None:
    with pytest.raises(StoreError, match="does not answer"):
        Store(postgresql.address.replace("/postgres", "/nowhere"))
