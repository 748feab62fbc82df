"""What is covered in a class says what ends that: the teacher, or in a class that walks alone one's own answer."""

import pytest

from attnviz.classroom.page.seat import STUDENT, TEACHER, Seat
from attnviz.kit.wire import unpack
from attnviz.lessons.reading import read
from tests.classroom.page.class_page import page_text
from tests.lessons.front_matter import FRONT_MATTER

PICTURE = {"src": "I love you", "to": "fr", "kind": "cross", "layer": "1", "head": "0"}
LESSON = (
    FRONT_MATTER
    + """## A cell

/heads?src=I+love+you&to=fr&kind=cross&layer=1&head=0

```question
kind: cell
row: "1"
ask: Where is most weight?
```
"""
)
UNTIL = {True: "the teacher reveals the answer", False: "you answer the question or skip it"}


@pytest.mark.parametrize("role", [STUDENT, TEACHER])
@pytest.mark.parametrize("is_guided", [True, False])
def test_the_map_the_other_tabs_and_the_drawing_say_the_same(sit, classes, is_guided: bool, role: str) -> None:
    key = classes.teachers.start(read(LESSON), is_guided=is_guided)
    token = classes.students.join(key.code, "Ann").token
    if is_guided:
        classes.teachers.open(key)
    own = Seat(key.code, role, token if role == STUDENT else key.secret)
    until = UNTIL[is_guided or role == TEACHER]

    app = sit("heads", own, **PICTURE)
    app.session_state["_attnviz_drawing_asked"] = True
    app.run()
    sent = [unpack(part.proto.bytes).header for part in app.get("bidi_component") if len(part.proto.bytes) > 500]
    (drawing,) = (header for header in sent if "built" in header)
    assert drawing["why"] == f"Covered until {until}."
    (heads,) = (header for header in sent if "strip" in header)
    (covered,) = (kind["covered"] for kind in heads["kinds"] if "covered" in kind)
    assert covered["said"] == f"Covered until {until}."

    app.button_group(key="pick-tab").set_value("links").run()
    assert not app.exception
    assert f"Covered until {until}." in page_text(app)
