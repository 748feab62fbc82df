"""Classes that a test holds in the dashboard's own database: it does what a teacher and students do without a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.reading import read
from attnviz.ui.cache import bounded, traces
from attnviz.ui.lessons.run import picture
from tests.browser import server

LESSON = Path(__file__).with_name("kinds.md")  # a step for each kind of question
CELL, ROW, NUMBER, CHOICE, HEAD, TEXT, LONG_ROW = range(7)


@contextmanager
def dashboard_and_classes(folder: Path) -> Iterator[tuple[str, Classroom]]:
    """The dashboard's address, whose list of lessons has that of each kind as `kinds`, and its classes."""
    (folder / "kinds.md").write_text(LESSON.read_text(encoding="utf-8"), encoding="utf-8")
    database = f"sqlite:///{folder / 'classes.sqlite'}"
    environment = {"ATTNVIZ_DATABASE": database, "ATTNVIZ_LESSONS": str(folder), "OMP_WAIT_POLICY": "passive"}
    _forget()  # other tests of this process run a tiny model by the shipped one's name
    with server.dashboard(folder / "dashboard.log", environment) as address:
        classes = Classroom(database, picture)
        yield address, classes
        classes.close()
    _forget()


def _forget() -> None:
    """Let go of the model and of what it computed."""
    bounded.empty()
    traces._shipped.forget(lambda _: True)


def class_at(classes: Classroom, at: int) -> TeacherKey:
    """A class whose step `at` is open."""
    key = classes.teachers.start(read(LESSON.read_text(encoding="utf-8")))
    classes.teachers.go(key, at)
    classes.teachers.open(key)
    return key
