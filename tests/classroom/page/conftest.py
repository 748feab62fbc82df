"""Classes in a database of each test's own, and pages opened as their members."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom import instance
from attnviz.classroom.page.room import room
from attnviz.classroom.page.seat import Seat
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.reading import read
from tests.lessons.front_matter import FRONT_MATTER

LESSON = (
    FRONT_MATTER
    + """## First

/heads?src=I+love+you&to=fr&kind=cross&layer=1&head=0

```question
kind: choice
ask: Two or three?
options: [two, "three <b>$x$</b>"]
right: 2
cover: page
why: Because three is the secret reason.
```

## Second

```question
kind: text
ask: Why?
```
"""
)


@pytest.fixture
def classes(open_page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Classroom]:
    """Provide the classes of a database of this test's own."""
    monkeypatch.setenv("ATTNVIZ_DATABASE", f"sqlite:///{tmp_path / 'classes.sqlite'}")
    instance.close()
    yield room()
    instance.close()


@pytest.fixture
def key(classes: Classroom) -> TeacherKey:
    return classes.teachers.start(read(LESSON))


@pytest.fixture
def sit(open_page) -> Callable[..., AppTest]:
    """Open a page as a member of a class sees it."""

    def make(page: str, own: Seat, **texts: str) -> AppTest:
        app = open_page(page, **{"class": own.code} | texts)
        app.session_state["_attnviz_seats"] = {own.code: own}
        return app.run()

    return make
