"""The objects that the students' and the teachers' functions of a classroom share."""

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.classroom.joining import FairJoining
from attnviz.classroom.news import News
from attnviz.classroom.presence import Presence
from attnviz.classroom.storage.store import Store
from attnviz.classroom.truths import Truths


@dataclass(frozen=True)
class ClassroomParts:
    """The objects of a classroom.

    `clock` returns seconds since 1970, and `keep_days` is the number of days for which a class is kept. With
    `is_rehearsal` all classes of the store are rehearsals.
    """

    store: Store
    truths: Truths
    news: News
    presence: Presence
    fair: FairJoining
    clock: Callable[[], float]
    keep_days: float
    is_rehearsal: bool = False
