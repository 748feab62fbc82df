"""The database of classes: an SQLite file, or PostgreSQL for an instance of several processes or machines."""

import sqlite3
from pathlib import Path
from typing import Any

import platformdirs
from sqlalchemy import Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from attnviz.classroom.errors import ClassroomError

VARIABLE = "ATTNVIZ_DATABASE"
WRITING = "attnviz_writing"  # an execution option: this transaction will write
_PATIENCE = 3  # seconds that a statement waits for another's lock, and a connection for its server
_CONNECTIONS = 8
# FULL: a commit is on the disk before it is acknowledged, so that neither a killed process nor a power cut loses it.
_PRAGMAS = (
    f"PRAGMA busy_timeout = {_PATIENCE * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",  # what is purged is overwritten
)
_POSTGRESQL = {
    "connect_timeout": _PATIENCE,
    "tcp_user_timeout": _PATIENCE * 1000,
    "options": f"-c lock_timeout={_PATIENCE}s -c statement_timeout={2 * _PATIENCE}s -c synchronous_commit=on",
    "application_name": "attnviz",
}


def default_file() -> Path:
    """Return the file in which classes are stored by default."""
    return platformdirs.user_state_path("attnviz") / "classes.sqlite"


def folder_of(address: str) -> Path:
    """Return the folder of the SQLite file at an address; for another database, the folder of the default file."""
    url = _url(address.strip())
    return Path(url.database or "").parent if url.get_backend_name() == "sqlite" else default_file().parent


def engine_of(address: str) -> Engine:
    """Make an SQLAlchemy engine for the database at an address.

    The address is a file's path, `sqlite:///…` or `postgresql+psycopg://…`; "" is the default file. The folder of a
    file is created, but no connection is opened yet. Raises ClassroomError for an address that cannot be used.
    """
    url = _url(address.strip())
    if url.get_backend_name() == "sqlite":
        return _sqlite(url)
    try:
        return create_engine(
            url, connect_args=_POSTGRESQL, pool_pre_ping=True, pool_size=_CONNECTIONS, pool_timeout=_PATIENCE
        )
    except ImportError:
        raise ClassroomError(
            f"{VARIABLE} names PostgreSQL, which needs psycopg: pip install 'psycopg[binary]'."
        ) from None


def memory_engine() -> Engine:
    """Open a new SQLite database in memory, with one connection that all threads share in turn."""
    engine = create_engine(
        "sqlite://", poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=_PATIENCE,
        connect_args={"check_same_thread": False},
    )  # fmt: skip
    return _control_transactions(engine)


def file_of(engine: Engine) -> tuple[int, int] | None:
    """Return device and inode of an SQLite database's file; None for a database in memory, or of another kind."""
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return None
    try:
        found = Path(engine.url.database).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _url(address: str) -> URL:
    if "://" not in address:
        file = Path(address).expanduser() if address else default_file()
        return URL.create("sqlite", database=str(file))
    try:
        url = make_url(address)
    except ArgumentError:
        raise ClassroomError(f"{VARIABLE} cannot be read: {_MEANT}.") from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        raise ClassroomError(f"{VARIABLE} names no database that classes can be stored in: {_MEANT}.")
    return url.set(drivername="sqlite")


_MEANT = "give the path of a file, or postgresql+psycopg://user:password@host/name"


def _sqlite(url: URL) -> Engine:
    file = Path(url.database or "")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)  # no other user of this machine may read the members of a class
    except OSError as error:
        raise ClassroomError(
            f"Classes cannot be stored in {file} ({error.strerror}): set {VARIABLE} to a file that can be written."
        ) from None
    return _control_transactions(create_engine(url, pool_size=_CONNECTIONS, pool_timeout=_PATIENCE))


def _control_transactions(engine: Engine) -> Engine:
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: sqlite3.Connection, record: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says, and not where sqlite3 would
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _begin(connection: Any) -> None:
    """Begin a transaction. A writing transaction locks at once, because one that starts to write later may fail."""
    is_writing = connection.get_execution_options().get(WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")
