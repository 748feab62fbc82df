"""Which members are connected, and at which step.

Each screen reports once a second. The reports are collected and written rarely, in one transaction.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import bindparam, update
from sqlalchemy.orm import Session

from attnviz.classroom.errors import StoreError
from attnviz.classroom.storage.store import Store
from attnviz.classroom.storage.tables import ClassRow, MemberRow

AWAY_AFTER = 30.0  # seconds
_WRITTEN_EVERY = 10.0  # seconds between two times that a member who stays is written
_FLUSH = 1.0  # seconds between two transactions
_MOST = 50_000  # members that are remembered


class MemberPlace(NamedTuple):
    """A member of a class, and the step that the member's screen shows."""

    member: int
    class_id: int
    at: int


class Presence:
    """Collector of reports from members' screens, which are written to the database together."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self.clock = store, clock
        self._lock, self._flushing = threading.Lock(), threading.Lock()
        self._written: dict[int, tuple[int, float]] = {}
        self._waiting: dict[int, tuple[MemberPlace, float]] = {}
        self._flushed = time.monotonic()

    def note(self, place: MemberPlace) -> None:
        """Add a report that a member's screen is open, to be written to the database later."""
        now = self.clock()
        with self._lock:
            at, written = self._written.get(place.member, (-1, 0.0))
            if at != place.at or now - written > _WRITTEN_EVERY:
                self._waiting[place.member] = place, now

    def flush(self, *, now: bool = False) -> None:
        """Write the reports to the database, unless another thread is writing or the last write is recent.

        With `now` they are written even after a recent write. Reports that cannot be written are kept for the next
        call.
        """
        is_due = now or time.monotonic() - self._flushed >= _FLUSH
        if not is_due or not self._flushing.acquire(blocking=False):
            return
        try:
            with self._lock:
                waiting, self._waiting = self._waiting, {}
            self._flushed = time.monotonic()
            if waiting:
                self._write(waiting)
        finally:
            self._flushing.release()

    def _write(self, waiting: dict[int, tuple[MemberPlace, float]]) -> None:
        moved = {
            place.class_id for place, _ in waiting.values() if self._written.get(place.member, (-1,))[0] != place.at
        }
        lines = [{"who": who, "at": place.at, "when": seen} for who, (place, seen) in sorted(waiting.items())]
        try:
            self._store.write(lambda session: self._save(session, sorted(moved), lines))
        except StoreError:
            with self._lock:
                self._waiting = waiting | self._waiting
            return
        with self._lock:
            if len(self._written) > _MOST:
                self._written.clear()
            self._written |= {line["who"]: (line["at"], line["when"]) for line in lines}

    @staticmethod
    def _save(session: Session, moved: list[int], lines: list[dict[str, Any]]) -> None:
        """Write the reports in `lines`, and count a change for the classes in `moved`.

        Every transaction locks classes before members, and each in the order of their ids, so that none deadlock.
        Members who were removed meanwhile are not restored.
        """
        if moved:
            session.execute(update(ClassRow).where(ClassRow.id.in_(moved)).values(news=ClassRow.news + 1))
        one = update(MemberRow).where(MemberRow.id == bindparam("who"))
        session.connection().execute(one.values(step=bindparam("at"), seen=bindparam("when")), lines)
