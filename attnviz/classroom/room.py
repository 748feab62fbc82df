"""A classroom: all classes in one database, with functions for students and for teachers. Imports no page.

Refused requests raise `ClassroomError`, whose message is one sentence to be shown. Its subclass `ClassGoneError` means
that the class or member does not exist (any more), and `StoreError` that nothing was saved and the caller may try
again.
"""

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy import delete
from sqlalchemy.orm import Session

from attnviz.classroom.errors import StoreError
from attnviz.classroom.joining import FairJoining
from attnviz.classroom.news import News
from attnviz.classroom.parts import ClassroomParts
from attnviz.classroom.presence import Presence
from attnviz.classroom.storage.store import Store
from attnviz.classroom.storage.tables import ClassRow
from attnviz.classroom.students import Students
from attnviz.classroom.teachers import Teachers
from attnviz.classroom.truths import RunPicture, TakeTurn, Truths

KEEP_DAYS = 14.0
_SWEEP = 3600.0  # seconds between two looks for classes whose time is over


class Classroom:
    """All classes in one database.

    Its methods may be called from any thread, and several processes may share a database.
    """

    def __init__(
        self, address: str | None, run: RunPicture, *, take_turn: TakeTurn = lambda: None, keep_days: float = KEEP_DAYS,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        """Open the database at `address`, whose forms are listed at `engine_of`.

        With None all classes are rehearsals, in a database in memory that is deleted by `close`. `run` and `take_turn`
        are passed to `Truths`. Expired classes are deleted now and every hour. Raises ClassroomError if the database
        cannot be opened.
        """
        self._store, self._clock, self.keep_days = Store(address), clock, keep_days
        self._presence = Presence(self._store, clock)
        news = News(self._store, clock)
        parts = ClassroomParts(
            self._store, Truths(run, take_turn), news, self._presence, FairJoining(), clock, keep_days, address is None
        )
        self.students, self.teachers, self.keep_days = Students(parts), Teachers(parts), keep_days
        self._is_closed = threading.Event()
        self.sweep()
        threading.Thread(target=self._sweep_hourly, name="attnviz-classroom", daemon=True).start()

    def sweep(self) -> int:
        """Delete expired classes with their members and answers, and return how many. Raises StoreError."""
        deleted = self._store.write(self._delete_expired)
        self._store.forget_deleted()
        return deleted

    def close(self) -> None:
        """Write the pending reports on who is connected, and close the database."""
        self._is_closed.set()
        self._presence.flush(now=True)
        self._store.close()

    def _delete_expired(self, session: Session) -> int:
        return len(
            session.scalars(delete(ClassRow).where(ClassRow.expires <= self._clock()).returning(ClassRow.id)).all()
        )

    def _sweep_hourly(self) -> None:
        while not self._is_closed.wait(_SWEEP):
            try:
                self.sweep()
            except StoreError as error:
                logging.getLogger(__name__).warning("Expired classes were not deleted yet: %s", error)
