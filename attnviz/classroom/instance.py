"""The classroom of this process and its rehearsals, opened at the first request of a page."""

import os
import threading

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.rehearsal.rehearsals import Rehearsals
from attnviz.classroom.room import KEEP_DAYS, Classroom
from attnviz.classroom.storage.database import VARIABLE, default_file
from attnviz.classroom.truths import RunPicture, TakeTurn

DAYS_VARIABLE = "ATTNVIZ_CLASS_DAYS"
MOST_DAYS = 366
_lock = threading.Lock()
_opened: list[Classroom] = []
_rehearsals: list[Rehearsals] = []


def classroom(run: RunPicture, take_turn: TakeTurn = lambda: None) -> Classroom:
    """Return this process's classroom, with the database in ATTNVIZ_DATABASE.

    Raises ClassroomError if the database cannot be opened; the next call tries again.
    """
    with _lock:
        if not _opened:
            _opened.append(Classroom(os.environ.get(VARIABLE, ""), run, take_turn=take_turn, keep_days=_days()))
        return _opened[0]


def rehearsals(run: RunPicture, take_turn: TakeTurn = lambda: None) -> Rehearsals:
    """Return this process's rehearsals of classes, which are stored only in memory."""
    with _lock:
        if not _rehearsals:
            _rehearsals.append(Rehearsals(run, take_turn=take_turn))
        return _rehearsals[0]


def is_used() -> bool:
    """Check whether ATTNVIZ_DATABASE is set, or the default database file exists."""
    return bool(os.environ.get(VARIABLE, "").strip()) or default_file().exists()


def close() -> None:
    """Close the database, and all rehearsals; the next call opens it again."""
    with _lock:
        while _rehearsals:
            _rehearsals.pop().close()
        while _opened:
            _opened.pop().close()


def _days() -> float:
    said = os.environ.get(DAYS_VARIABLE, "").strip() or str(KEEP_DAYS)
    try:
        days = float(said)
    except ValueError:
        days = 0.0
    if not 0 < days <= MOST_DAYS:
        raise ClassroomError(
            f"{DAYS_VARIABLE} is {said[:40]!r}. Please set it to a number of days from 1 to {MOST_DAYS}, such as 14."
        )
    return days
