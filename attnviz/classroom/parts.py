"""The parts that the students' and the teachers' side of a classroom share."""

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.classroom.joining import FairJoining
from attnviz.classroom.news import News
from attnviz.classroom.presence import Presence
from attnviz.classroom.storage.store import Store
from attnviz.classroom.truths import Truths


@dataclass(frozen=True)
class ClassroomParts:
    """`clock` gives seconds since 1970; `keep_days` is for how long a class is kept; `is_rehearsal` says that all
    classes of the store are rehearsals.
    """

    store: Store
    truths: Truths
    news: News
    presence: Presence
    fair: FairJoining
    clock: Callable[[], float]
    keep_days: float
    is_rehearsal: bool = False
