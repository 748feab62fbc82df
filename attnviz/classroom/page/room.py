"""The classes of this instance and their rehearsals, run with the models that all visitors share."""

from attnviz.app import hosting
from attnviz.classroom import instance
from attnviz.classroom.codes import is_rehearsal
from attnviz.classroom.page.seat import Seat
from attnviz.classroom.rehearsal.rehearsals import Rehearsals
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import ClassVersion
from attnviz.classroom.teachers import Teachers
from attnviz.lessons.page.run import picture


def room() -> Classroom:
    """Return all classes, without rehearsals. Raises ValueError with one sentence where their database cannot be
    opened.
    """
    return instance.classroom(picture, hosting.ensure_turn)


def rehearsals() -> Rehearsals:
    """Return all rehearsals."""
    return instance.rehearsals(picture, hosting.ensure_turn)


def teachers(own: Seat) -> Teachers:
    """Return the teachers' side of a seat: of a class, or of a rehearsal. Raises ValueError as `room`."""
    return rehearsals().teachers if is_rehearsal(own.code) else room().teachers


def version(own: Seat) -> ClassVersion:
    """Return the version of a seat's class; in a rehearsal the invented students first do what they would have done
    by now.
    """
    if is_rehearsal(own.code):
        rehearsals().catch_up(own.key)
    return teachers(own).version(own.key)
