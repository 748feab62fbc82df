"""Rehearsals: classes with invented students, with which a teacher prepares a lesson.

They have their own database in memory, which never contains a real student, answer or grade.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.rehearsal.crowd import Crowd
from attnviz.classroom.rehearsal.pace import MOST_STUDENTS
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey, TeacherView
from attnviz.classroom.truths import RunPicture, TakeTurn

HOURS = 3  # for which a rehearsal is kept, unless its teacher stops it
MOST_REHEARSALS = 100
_OVER = (
    f"This rehearsal is over: one is kept for {HOURS} hours, and not over a restart. Rehearse again from your class."
)


@dataclass(frozen=True)
class _Rehearsal:
    """A rehearsal of the class `of`. The thread that lets its students act holds the lock `acting`."""

    of: TeacherKey
    crowd: Crowd
    acting: threading.Lock = field(default_factory=threading.Lock)


class Rehearsals:
    """All rehearsals of this process. Methods raise ClassroomError for what they refuse."""

    def __init__(
        self, run: RunPicture, *, take_turn: TakeTurn = lambda: None, clock: Callable[[], float] = time.time
    ) -> None:
        """Open the database in memory. The arguments are those of `Classroom`."""
        self._room = Classroom(None, run, take_turn=take_turn, keep_days=HOURS / 24, clock=clock)
        self._clock, self._lock = clock, threading.Lock()
        self._known: OrderedDict[TeacherKey, _Rehearsal] = OrderedDict()
        self.teachers = self._room.teachers

    def start(self, of: TeacherKey, found: TeacherView, size: int, *, address: str = "") -> TeacherKey:
        """Start a rehearsal of the class `of`, whose teacher's view is `found`, with `size` invented students.

        The rehearsed class does not change. If there are more than `MOST_REHEARSALS`, the least recently used rehearsal
        is deleted.
        """
        if not 1 <= size <= MOST_STUDENTS:
            raise ClassroomError(f"A rehearsal has 1 to {MOST_STUDENTS} invented students, not {size}.")
        key = self.teachers.start(found.lesson, is_guided=found.is_guided, address=address)
        rehearsal = _Rehearsal(of, Crowd(self._room.students, key.code, size))
        with self._lock:
            self._known[key] = rehearsal
            oldest = next(iter(self._known)) if len(self._known) > MOST_REHEARSALS else None
        if oldest is not None:
            with suppress(ClassGoneError):  # two that start at once may find the same one
                self.stop(oldest)
        return key

    def stop(self, key: TeacherKey) -> TeacherKey:
        """Delete a rehearsal, and return the key of the rehearsed class.

        Raises ClassGoneError if it no longer exists.
        """
        with self._lock:
            rehearsal = self._known.pop(key, None)
        if rehearsal is None:
            raise ClassGoneError(_OVER)
        with suppress(ClassGoneError):  # its time is over
            self.teachers.purge(key)
        return rehearsal.of

    def catch_up(self, key: TeacherKey) -> None:
        """Let the invented students do everything that is due by now. Call this before reading a teacher's view."""
        with self._lock:
            rehearsal = self._known.get(key)
            if rehearsal is None:
                raise ClassGoneError(_OVER)
            self._known.move_to_end(key)
        if not rehearsal.acting.acquire(blocking=False):
            return
        try:
            now = self.teachers.view(key)
            rehearsal.crowd.act(now, self._clock(), lambda at: self.teachers.view(key, at))
        except ClassGoneError:
            raise ClassGoneError(_OVER) from None
        finally:
            rehearsal.acting.release()

    def close(self) -> None:
        """Delete all rehearsals."""
        self._room.close()
