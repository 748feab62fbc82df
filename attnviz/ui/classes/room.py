"""The classes of this instance, whose pictures are run with the models that all visitors share."""

from attnviz.classroom.opened import classroom
from attnviz.classroom.room import Classroom
from attnviz.ui import hosted
from attnviz.ui.lessons.run import picture


def room() -> Classroom:
    """All classes. Raises ValueError with one sentence where their database cannot be opened."""
    return classroom(picture, hosted.ensure_turn)
