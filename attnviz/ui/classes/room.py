"""The classes of this instance and their rehearsals, whose pictures are run with the models that all visitors share."""

from attnviz.classroom import opened
from attnviz.classroom.codes import is_rehearsal
from attnviz.classroom.rehearsal.rehearsals import Rehearsals
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import ClassVersion
from attnviz.classroom.teachers import Teachers
from attnviz.ui import hosted
from attnviz.ui.classes.seat import Seat
from attnviz.ui.lessons.run import picture


def room() -> Classroom:
    """All classes, without rehearsals. Raises ValueError with one sentence where their database cannot be opened."""
    return opened.classroom(picture, hosted.ensure_turn)


def rehearsals() -> Rehearsals:
    """All rehearsals."""
    return opened.rehearsals(picture, hosted.ensure_turn)


def teachers(own: Seat) -> Teachers:
    """The teachers' side of what a visitor teaches: of a class, or of a rehearsal. Raises ValueError as `room`."""
    return rehearsals().teachers if is_rehearsal(own.code) else room().teachers


def version(own: Seat) -> ClassVersion:
    """Check whether there is news of what a visitor teaches; in a rehearsal, what invented students have done by
    now is.
    """
    if is_rehearsal(own.code):
        rehearsals().catch_up(own.key)
    return teachers(own).version(own.key)
