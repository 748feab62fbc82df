"""Classes in the dashboard's database: tests act as a teacher and as students, without a page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.app.cache import bounded, traces
from attnviz.classroom.room import Classroom
from attnviz.lessons.page.run import picture


@pytest.fixture(scope="module")
def classes(address: str, outbound: Path) -> Iterator[Classroom]:
    """Provide the dashboard's classes, in this process."""
    forget_models()  # other tests of this process run a tiny model by the shipped one's name
    found = Classroom(str(outbound.with_name("classes.sqlite")), picture)
    yield found
    found.close()
    forget_models()


def forget_models() -> None:
    """Let go of the model and of what it computed."""
    bounded.empty()
    traces._shipped.forget(lambda _: True)
