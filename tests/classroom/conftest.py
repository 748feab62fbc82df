"""A classroom on a file of its own, and a lesson whose answers need no model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.classroom.room import Classroom
from attnviz.lessons.lesson import Lesson
from tests.classroom.lesson import choices


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(tmp_path: Path, clock: Clock) -> Iterator[Classroom]:
    room = Classroom(str(tmp_path / "classes.sqlite"), lambda link: None, clock=clock)
    yield room
    room.close()


@pytest.fixture
def lesson() -> Lesson:
    return choices(steps=3)
