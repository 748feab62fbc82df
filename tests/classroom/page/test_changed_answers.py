"""A saved answer: its fields show it, also after a reload, and it can be changed until its step is closed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom.page.seat import STUDENT, Seat
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.reading import read
from tests.classroom.page.class_page import page_text
from tests.lessons.front_matter import FRONT_MATTER

PICTURE = "/heads?src=I+love+you&to=fr&kind=cross&layer=1&head=0"
STEP = """## A step

{picture}

```question
{question}
ask: Which?
```
"""
QUESTIONS = {
    "cell": "kind: cell\nrow: '1'",
    "row": "kind: row\nrow: '1'",
    "head": "kind: head\nheads: [L0 H0, L1 H0]\nby: entropy",
    "number": "kind: number\nmeasure: heads",
    "choice": "kind: choice\noptions: [two, three]\nright: 2",
    "translation": "kind: translation",
    "text": "kind: text",
}
Screen = Callable[..., AppTest]


@pytest.fixture
def open_class(classes: Classroom) -> Callable[[str], tuple[TeacherKey, str]]:
    """Start and open a class on a question of a kind, which Ann has joined; the class, and her token."""

    def begin(kind: str) -> tuple[TeacherKey, str]:
        lesson = FRONT_MATTER + STEP.format(picture=PICTURE, question=QUESTIONS[kind])
        key = classes.teachers.start(read(lesson))
        token = classes.students.join(key.code, "Ann").token
        classes.teachers.open(key)
        return key, token

    return begin


def stored_answers(classes: Classroom, key: TeacherKey) -> list[str]:
    lines = classes.teachers.answers_csv(key).decode("utf-8-sig").splitlines()
    return [line.split(",")[6] for line in lines[1:]]


def components(app: AppTest) -> str:
    """Read what the page's components are sent, as far as it is text."""
    found = app.get("bidi_component")
    return "\n".join(f"{part.proto.json}{part.proto.bytes.decode('utf-8', 'replace')}" for part in found)


def test_an_answer_is_changed_in_its_own_fields(sit: Screen, classes: Classroom, open_class) -> None:
    key, token = open_class("choice")
    app = sit("heads", Seat(key.code, STUDENT, token))
    app.radio[0].set_value(0).run()
    app.button(key="class-submit").click().run()
    assert "Your answer is in: two. You can change your answer until the teacher closes this step." in page_text(app)
    assert app.button(key="class-submit").label == "Change answer"
    app.radio[0].set_value(1).run()
    assert "Your answer is in: two. Your earlier answer counts until you press “Change answer”." in page_text(app)
    assert stored_answers(classes, key) == ["two"]
    app.button(key="class-submit").click().run()
    assert "Your answer is in: three. You can change your answer" in page_text(app)
    assert stored_answers(classes, key) == ["three"]


@pytest.mark.parametrize(
    ("kind", "given", "field"),
    [
        ("head", [1, 0], lambda app: app.radio[0].value == 1),
        ("number", 2.5, lambda app: [one.value for one in app.text_input if "number" in one.label] == ["2.5"]),
        ("choice", 1, lambda app: app.radio[0].value == 1),
        (
            "translation",
            "Je",
            lambda app: [one.value for one in app.text_input if one.label == "Your answer"] == ["Je"],
        ),
        ("text", "<b>so</b>", lambda app: app.text_area[0].value == "<b>so</b>"),
        ("cell", [[1, 2]], lambda app: next(box for box in app.selectbox if box.label == "Key").value == 2),
        ("cell", [[1, 2]], lambda app: '"marks": [[1, 2]]' in components(app).replace(":[[1,2]]", ": [[1, 2]]")),
        ("row", [0.25, 0.5, 0.0, 0.0], lambda app: "[0.25, 0.5, 0.0, 0.0]" in components(app)),
    ],
)
def test_after_a_reload_the_answer_is_where_it_was_given(
    sit: Screen, classes, open_class, kind: str, given: Any, field
):
    key, token = open_class(kind)
    classes.students.answer(token, 0, given, in_round="before", client_id="1")
    app = sit("heads", Seat(key.code, STUDENT, token))
    assert not app.exception
    assert field(app), components(app)[:3000]
    assert "You can change your answer until the teacher closes this step." in page_text(app)
    app.button(key="class-submit").click().run()
    assert not app.error
    assert len(stored_answers(classes, key)) == 1


def test_a_field_that_was_emptied_stays_empty_and_the_answer_counts(sit: Screen, classes, open_class) -> None:
    key, token = open_class("text")
    classes.students.answer(token, 0, "Mine.", in_round="before", client_id="1")
    app = sit("heads", Seat(key.code, STUDENT, token))
    app.text_area[0].set_value("").run()
    app.run()
    assert app.text_area[0].value == ""
    app.button(key="class-submit").click().run()
    assert len(app.error) == 1
    assert "Your answer is in: Mine. Your earlier answer counts until" in page_text(app)
    assert stored_answers(classes, key) == ["Mine."]


@pytest.mark.parametrize(("kind", "given"), [("choice", 0), ("cell", [[1, 2]]), ("row", [1.0, 0.0, 0.0, 0.0])])
def test_a_step_that_is_closed_shows_the_answer_and_takes_no_other(
    sit: Screen, classes, open_class, kind, given
) -> None:
    key, token = open_class(kind)
    classes.students.answer(token, 0, given, in_round="before", client_id="1")
    app = sit("heads", Seat(key.code, STUDENT, token))
    classes.teachers.close(key)
    app.button(key="class-submit").click().run()
    app.run()
    assert not app.exception
    assert "Waiting for the teacher." in page_text(app)
    assert not [button for button in app.button if button.key == "class-submit"]
    assert kind == "choice" or json.dumps(given) in components(app).replace(":[[1,2]]", ": [[1, 2]]")
