"""The lesson with a step for each kind of question, which the dashboard of the browser tests has as `kinds`."""

from pathlib import Path

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.reading import read_file

LESSON = read_file(Path(__file__).parent / "lessons" / "kinds.md")
CELL, ROW, NUMBER, CHOICE, HEAD, TEXT, LONG_ROW = range(7)


def class_at(classes: Classroom, at: int) -> TeacherKey:
    """Start a class whose step `at` is open."""
    key = classes.teachers.start(LESSON)
    classes.teachers.go(key, at)
    classes.teachers.open(key)
    return key
