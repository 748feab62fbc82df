"""Transactions that are either on the disk or did not happen, and a sentence for each kind of failure."""

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.orm import Session

from attnviz.classroom.errors import ClassroomError, StoreError
from attnviz.classroom.storage.database import WRITING, engine_of, file_of, memory_engine
from attnviz.lessons.phrases import Translatable

T = TypeVar("T")

_PAUSES = (0.2, 0.4)  # seconds before a second and a third try
_TURN = 10.0  # seconds that a thread waits for the threads that write before it
_BUSY = Translatable(
    "This is not saved yet, because the class's database is busy. Nothing is lost. Please try again in a moment."
)
_FULL = Translatable(
    "This was not saved, because the disk of the class's database is full. Everything that was saved "
    "before is safe. Please tell the people who run attnviz."
)
_AWAY = Translatable(
    "This is not saved yet, because the class's database does not answer. Everything that was saved "
    "before is safe. Please try again in a moment."
)
_MOVED = Translatable(
    "The file of the class's database was moved or deleted, so this is not saved. Please tell the "
    "people who run attnviz."
)
_DAMAGED = Translatable(
    "The file that ATTNVIZ_DATABASE names is not a SQLite database, or is damaged. Please tell the "
    "people who run attnviz."
)
_SQLITE = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: Translatable(
        "The class's database cannot be written. Please tell the people who run attnviz."
    ),
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
}
# PostgreSQL's classes of errors: disk full, lock not had in time, two that waited for each other, or cancelled.
_POSTGRESQL = {"53100": _FULL, "55P03": _BUSY, "40001": _BUSY, "40P01": _BUSY, "57014": _BUSY, "53300": _BUSY}


class Store:
    """A database of classes.

    Its methods call `work(session)` in a transaction, and call it again if the first try fails.
    """

    def __init__(self, address: str | None) -> None:
        """Open the database at an address; None opens one in memory. Raises ClassroomError for an invalid address,
        and StoreError for a database that does not open.
        """
        self._engine: Engine = memory_engine() if address is None else engine_of(address)
        # One writer at a time is all that SQLite has; a thread that waits here is woken in order.
        self._writer = threading.Lock() if self._engine.dialect.name == "sqlite" else None
        self._retry(lambda: migrate(self._engine))
        self._file = file_of(self._engine)

    def read(self, work: Callable[[Session], T]) -> T:
        """Return the result of `work`, which only reads. Raises StoreError if the database fails."""
        return self._retry(lambda: self._transact(work, is_writing=False))

    def write(self, work: Callable[[Session], T]) -> T:
        """Return the result of `work` after its changes are on the disk.

        Raises IntegrityError if a row exists already, and StoreError if the database fails. After a StoreError nothing
        has changed, unless the connection was lost while the changes were being committed.
        """
        return self._retry(lambda: self._transact(work, is_writing=True))

    def forget_deleted(self) -> None:
        """Remove deleted rows from SQLite's write-ahead log too.

        If another connection reads the log, the next call does.
        """
        if self._writer is None:
            return
        options = {"isolation_level": "AUTOCOMMIT"}
        with suppress(DBAPIError), self._engine.connect().execution_options(**options) as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _transact(self, work: Callable[[Session], T], *, is_writing: bool) -> T:
        with self._turn(is_writing):
            # SQLite would go on writing into a file that has no name any more, and is gone when the process ends.
            if is_writing and file_of(self._engine) != self._file:
                raise StoreError(_MOVED)
            connection = self._engine.connect().execution_options(**{WRITING: is_writing})
            with connection, Session(connection, expire_on_commit=False) as session, session.begin():
                return work(session)

    @contextmanager
    def _turn(self, is_writing: bool) -> Iterator[None]:
        if not is_writing or self._writer is None:
            yield
            return
        if not self._writer.acquire(timeout=_TURN):
            raise StoreError(_BUSY)
        try:
            yield
        finally:
            self._writer.release()

    def _retry(self, work: Callable[[], T]) -> T:
        for pause in (*_PAUSES, None):
            try:
                return work()
            except IntegrityError:
                raise
            except (DBAPIError, NoConnectionError, sqlite3.Error) as error:
                said = _failure_sentence(error)
                if pause is None or said not in (_BUSY, _AWAY):
                    raise StoreError(said) from error
            time.sleep(pause * random.uniform(0.75, 1.25))
        raise AssertionError("the last try returns or raises")


def _failure_sentence(error: DBAPIError | NoConnectionError | sqlite3.Error) -> str:
    """Return a sentence for a database's error. The error's own message may contain an address or a visitor's text."""
    if isinstance(error, NoConnectionError):
        return _BUSY
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the rest is detail
        return _SQLITE.get(code, _AWAY)
    return _POSTGRESQL.get(getattr(cause, "sqlstate", "") or "", _AWAY)


_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x61747476_697A  # "attnviz": PostgreSQL's lock while tables are made; SQLite's is that of the transaction


def migrate(engine: Engine) -> None:
    """Run all migrations in one transaction. If one fails, the database is unchanged.

    Raises ClassroomError for a database that a newer version wrote, and passes on the database's own errors.
    """
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    with engine.connect().execution_options(**{WRITING: True}) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise ClassroomError(
                "The classes' database was written by another version of attnviz. Please start that "
                "version, or name a new database in ATTNVIZ_DATABASE."
            ) from None
