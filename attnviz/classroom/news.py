"""Version counters of classes, read from the database at most once per quarter of a second."""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from attnviz.classroom.presence import AWAY_AFTER
from attnviz.classroom.state import ClassVersion
from attnviz.classroom.storage.store import Store
from attnviz.classroom.storage.tables import ClassRow, MemberRow

_FRESH = 0.25  # seconds
_MOST = 2_000  # classes that are remembered


class News:
    """Cache of classes' versions. The counters are in the database, so that two processes agree on them."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._known: OrderedDict[int, tuple[float, ClassVersion | None]] = OrderedDict()
        self._drops: Counter[int] = Counter()

    def version(self, class_id: int) -> ClassVersion | None:
        """Return a class's version; None if the class no longer exists. Raises StoreError if the database fails."""
        now = time.monotonic()
        with self._lock:
            asked, version = self._known.get(class_id, (float("-inf"), None))
            if now - asked < _FRESH:
                return version
            if version is not None:  # a call while it is read takes the last one, without a query
                self._known[class_id] = now, version
            forgotten = self._drops[class_id]
        version = self._store.read(lambda session: self._read_version(session, class_id))
        with self._lock:
            is_old = self._drops[class_id] != forgotten  # there was news while it was read
            self._known[class_id] = float("-inf") if is_old else now, version
            if len(self._known) > _MOST:
                oldest, _ = self._known.popitem(last=False)
                self._drops.pop(oldest, None)
        return version

    def forget(self, class_id: int) -> None:
        """Drop a class's cached version, so that the next request reads the database."""
        with self._lock:
            self._drops[class_id] += 1
            if class_id in self._known:
                self._known[class_id] = float("-inf"), self._known[class_id][1]

    def _read_version(self, session: Session, class_id: int) -> ClassVersion | None:
        now = self._clock()
        here = select(func.count()).where(MemberRow.class_id == class_id, MemberRow.seen > now - AWAY_AFTER)
        asked = select(ClassRow.shared, ClassRow.news, here.scalar_subquery())
        found = session.execute(asked.where(ClassRow.id == class_id, ClassRow.expires > now)).one_or_none()
        return ClassVersion(*found) if found else None
