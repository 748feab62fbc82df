"""A lesson's panel in a window of its own: each window's session shows the other window's news."""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.lessons.page import companion
from attnviz.lessons.page.companion import LessonNews, StepNews, read_news
from tests.lessons.page.lesson_page import cross, page_text

NAME = "0123456789abcdef"
Hear = Callable[[str], None]


@pytest.fixture
def hear(monkeypatch: pytest.MonkeyPatch) -> Hear:
    """Have the pages that are opened next hear a text from the other window."""
    return lambda text: monkeypatch.setattr(companion, "reported_value", lambda *_: {"revision": 1 << 42, "text": text})


def news(at: int = 0, **more) -> str:
    return LessonNews("love", at, **more).to_text()


def line_payload(app: AppTest) -> dict:
    """Read what the browser is given for the line."""
    parts = (json.loads(part.proto.json) for part in app.get("bidi_component") if '"isLinked"' in part.proto.json)
    return next(parts)


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def test_the_panel_alone_has_what_answers_and_walks_and_nothing_that_leads_away(open_lesson) -> None:
    app = open_lesson("lessons", panel=NAME)
    assert {"Answer", "Skip and show", "Hint", "Next"} <= set(labels(app))
    assert not {"Close", "Start a class", "Open this step's picture"} & set(labels(app))
    assert (line_payload(app)["role"], line_payload(app)["name"], line_payload(app)["isLinked"]) == (
        "panel",
        NAME,
        True,
    )
    app.button(key="lesson-next").click().run()
    assert "2 of 4" in page_text(app)
    assert app.query_params["panel"] == NAME
    assert not app.get("plotly_chart"), "it stays on the page Lessons"


def test_the_docked_panel_offers_a_window_and_tells_nothing_until_something_is_done(open_lesson) -> None:
    app = open_lesson()
    assert (line_payload(app)["role"], line_payload(app)["isLinked"], line_payload(app)["revision"]) == (
        "picture",
        False,
        0,
    )
    assert line_payload(app)["address"].startswith("lessons?lesson=love&lesson_step=1&panel=")
    app.button(key="lesson-hint").click().run()
    assert line_payload(app)["revision"] > 0
    assert read_news(line_payload(app)["text"]) == LessonNews("love", 0, {0: StepNews(rungs=1)})


def test_what_the_other_window_has_answered_is_uncovered_and_marked(open_lesson, hear) -> None:
    hear(news(done={0: StepNews([[2, 0]])}))
    app = open_lesson(beside=NAME)
    assert cross(app)[1, 0].any()
    assert "It is so." in page_text(app)
    assert "Score" in page_text(app) or "Right." in page_text(app)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", '{"lesson": 1}', "[" * 100_000),
        news(done={0: StepNews([[99, 99]])}),
        news(done={0: StepNews("red")}),
        news(done={1: StepNews(is_skipped=True)}),
        news().replace('"done": {}', '"done": {"0": {"guess": null, "is_skipped": "yes", "rungs": 0}}'),
        news(done={0: StepNews(is_skipped=True)}).replace("love", "hate"),
        news(done={7: StepNews(is_skipped=True)}, fields={"cells": [[1, 1], [2, 2]], "option": 1e400}),
    ],
)
def test_what_is_no_answer_to_this_step_uncovers_nothing(open_lesson, hear, text: str) -> None:
    hear(text)
    app = open_lesson(beside=NAME)
    assert not app.exception
    assert not cross(app)[1, 0].any()


def test_hints_are_opened_in_both_and_no_more_than_there_are(open_lesson, hear) -> None:
    hear(news(done={0: StepNews(rungs=99)}))
    app = open_lesson(beside=NAME)
    assert "A suggestion." in page_text(app)
    assert "it is marked on the map" in page_text(app)
    assert "Hint" not in labels(app)


def test_the_picture_goes_to_the_step_that_the_panel_is_at(open_lesson, hear) -> None:
    hear(news(3))
    app = open_lesson(beside=NAME)
    assert "Two or three?" in page_text(app)
    assert (app.query_params["lesson_step"], app.query_params["beside"]) == ("4", NAME)


@pytest.mark.parametrize("at", [4, 9_999])
def test_a_step_that_there_is_not_is_not_gone_to(open_lesson, hear, at: int) -> None:
    hear(news(at))
    assert open_lesson(beside=NAME).query_params["lesson_step"] == "1"


def test_what_is_typed_and_chosen_is_there_when_the_other_window_is_closed(open_lesson, hear) -> None:
    hear(news(2, fields={"said": "je t’aime"}))
    assert open_lesson(step=3, beside=NAME).text_input(key="lesson-love-2-said").value == "je t’aime"
    hear(news(3, fields={"option": 1}))
    assert open_lesson("masks", 4, beside=NAME).radio(key="lesson-love-3-option").value == 1
    hear(news(3, fields={"option": 2, "number": "x", "text": 3, "row": ["a"]}))
    assert open_lesson("masks", 4, beside=NAME).radio(key="lesson-love-3-option").value is None
    hear(news(0, fields={"cells": [[2, 1]]}))
    assert open_lesson(beside=NAME).selectbox(key="lesson-love-0-col").value == 1


def test_a_row_that_was_drawn_in_the_other_window_is_answered_here(open_lesson, hear) -> None:
    keys = cross(open_lesson()).shape[-1]
    hear(news(1, fields={"row": [500] + [0] * (keys - 1)}))
    app = open_lesson(step=2, beside=NAME)
    app.button(key="lesson-submit").click().run()
    assert "of its weight" in page_text(app)


@pytest.mark.parametrize("name", ["x", "a b", "../../etc/passwd", "é" * 12, "a" * 1_000])
def test_a_name_that_is_none_leaves_the_address(open_lesson, name: str) -> None:
    app = open_lesson(beside=name)
    assert not app.exception
    assert "beside" not in app.query_params
    assert not line_payload(app)["isLinked"]


def test_where_no_lesson_is_open_there_is_no_line(open_page) -> None:
    app = open_page("heads", src="I love you", beside=NAME, panel=NAME)
    assert "beside" not in app.query_params
    assert "panel" not in app.query_params
