"""The tables of a database, made or brought to this version's shape by Alembic; two processes may start at once."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine, text

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.storage.database import WRITING

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x61747476_697A  # "attnviz": PostgreSQL's lock while tables are made; SQLite's is that of the transaction


def migrate(engine: Engine) -> None:
    """All migrations in one transaction, which leaves the database as it was where one fails.

    Raises ClassroomError for a database that a newer version wrote, and what the database raises.
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
                "The classes' database was written by another version of attnviz: start that version, or name a new "
                "database in ATTNVIZ_DATABASE."
            ) from None
