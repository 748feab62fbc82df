"""The language of a class, which the form that joins it is in."""

from attnviz.classroom.codes import is_rehearsal
from attnviz.classroom.errors import ClassGoneError
from attnviz.classroom.lookup import class_with
from attnviz.classroom.material import unpacked
from attnviz.classroom.parts import ClassroomParts


def language_of(parts: ClassroomParts, code: str, address: str) -> str:
    """Look up the language of a class's lesson by its code. Raises ClassroomError.

    A wrong code counts as a try to join, so that this is no way to search for codes.
    """
    parts.fair.require_a_try(address)
    try:
        return parts.store.read(lambda session: unpacked(class_with(session, code, parts.clock()).material).language)
    except ClassGoneError:
        if not is_rehearsal(code):
            parts.fair.wrong(address)
        raise
