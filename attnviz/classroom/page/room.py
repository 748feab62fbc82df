"""The server's classes and rehearsals. Their pictures run with the cached models that all visitors share."""

import streamlit as st

from attnviz.app import hosting
from attnviz.classroom import instance
from attnviz.classroom.codes import is_rehearsal, read_code
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page.seat import Seat
from attnviz.classroom.rehearsal.rehearsals import Rehearsals
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import ClassVersion
from attnviz.classroom.teachers import Teachers
from attnviz.lessons.page.run import picture


def room() -> Classroom:
    """Return this server's `Classroom` with all real classes; `rehearsals` has the invented ones.

    Raises ValueError if its database cannot be opened.
    """
    return instance.classroom(picture, hosting.ensure_turn)


def rehearsals() -> Rehearsals:
    """Return the rehearsals of classes on this server, which have invented students."""
    return instance.rehearsals(picture, hosting.ensure_turn)


def teachers(own: Seat) -> Teachers:
    """Return the `Teachers` object that manages this seat's class, which is a real class or a rehearsal.

    Raises ValueError as `room` does.
    """
    return rehearsals().teachers if is_rehearsal(own.code) else room().teachers


def version(own: Seat) -> ClassVersion:
    """Return the version of a seat's class. In a rehearsal, the invented students first act up to the current time."""
    if is_rehearsal(own.code):
        rehearsals().catch_up(own.key)
    return teachers(own).version(own.key)


def language_of_class(code: str) -> str:
    """Return the language of the lesson of a class; "" for a text that is the code of no class."""
    if not (code := read_code(code)):
        return ""
    try:
        return room().students.language(code, address=st.context.ip_address or "")
    except ClassroomError:  # joining says why
        return ""
