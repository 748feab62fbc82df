"""What the room sees of a class, presented: on one screen, and large enough for its last row."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from tests.browser.classes.held import CELL, CHOICE, class_at, dashboard_and_classes

SIZES = [(1920, 1080), (1280, 720)]
# Each part with its place in the window and how high its letters come out there.
SEEN = """(parts) => Object.fromEntries(Object.entries(parts).map(([name, selector]) => {
  const node = document.querySelector(`.st-key-class-stage ${selector}`);
  const { left, top, right, bottom, width } = node.getBoundingClientRect();
  const letters = parseFloat(getComputedStyle(node).fontSize) * (width / node.offsetWidth || 1);
  return [name, { left, top, right, bottom, letters }];
}))"""
STANDS = "() => { const { scrollHeight, clientHeight } = document.querySelector('.st-key-class-stage'); "
STANDS += "return scrollHeight <= clientHeight + 1; }"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Classroom]]:
    with dashboard_and_classes(tmp_path_factory.mktemp("projector")) as held:
        yield held


@pytest.fixture(scope="module")
def address(held: tuple[str, Classroom]) -> str:
    return held[0]


@pytest.fixture(scope="module")
def classes(held: tuple[str, Classroom]) -> Classroom:
    return held[1]


def presented(visitor, key: TeacherKey, size: tuple[int, int]) -> Page:
    page: Page = visitor(viewport={"width": size[0], "height": size[1]}).new_page()
    page.goto(f"/class?class={key.code}&present=1#teach={key.secret}")
    expect(page.locator("[data-present=page] .st-key-class-stage")).to_be_visible()
    return page


def require_in_window(page: Page, size: tuple[int, int], parts: dict[str, tuple[str, float]]) -> None:
    """Each part lies in the window, and its letters are as high as is said for 1280 pixels."""
    page.wait_for_function(STANDS)
    seen = page.evaluate(SEEN, {name: selector for name, (selector, _) in parts.items()})
    for name, (_, least) in parts.items():
        at = seen[name]
        assert at["left"] >= 0, name
        assert at["top"] >= 0, name
        assert at["right"] <= size[0], name
        assert at["bottom"] <= size[1], name
        assert at["letters"] >= least * size[0] / 1280, name


@pytest.mark.parametrize("size", SIZES)
def test_while_a_question_is_open_it_stands_beside_code_and_count(visitor, classes, size) -> None:
    key = class_at(classes, CHOICE)
    token = classes.students.join(key.code, "Ann").token
    classes.students.answer(token, CHOICE, 0, in_round="before", client_id="1")
    classes.teachers.set_timer(key, minutes=60)
    page = presented(visitor, key, size)
    expect(page.get_by_text("1 of 1 have answered")).to_be_visible()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^5\d:\d\d left$"))
    parts = {
        "question": (".st-key-class-question h3:not(.st-key-class-text *)", 36),
        "options": (".st-key-class-question li:last-child", 27),
        "code": (".class-invitation strong", 48),
        "address": (".class-invitation span", 28),
        "QR code": (".class-invitation img", 0),
        "count": (".stProgress p", 28),
        "time left": (".class-countdown", 28),
    }
    require_in_window(page, size, parts)
    assert page.locator(".class-invitation img").bounding_box()["width"] > size[0] / 6


@pytest.mark.parametrize("at", [CELL, CHOICE], ids=["a map", "bars, and a long why"])
@pytest.mark.parametrize("size", SIZES)
def test_at_the_reveal_picture_answer_and_why_stand_on_one_screen(visitor, classes, size, at) -> None:
    key = class_at(classes, at)
    token = classes.students.join(key.code, "Ann").token
    classes.students.answer(token, at, 0 if at else [[2, 1]], in_round="before", client_id="1")
    classes.teachers.reveal(key)
    page = presented(visitor, key, size)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')._fullLayout.font.size >= 20")
    parts = {
        "question": (".st-key-class-question h3", 36 if at == CELL else 22),
        "picture": (".js-plotly-plot .main-svg", 0),
        "right": ("[data-testid=stAlert] p", 28 if at == CELL else 16),
        "why": (".st-key-class-why > :last-child p", 28 if at == CELL else 16),
    }
    require_in_window(page, size, parts)
    height = page.locator(".js-plotly-plot .main-svg").first.bounding_box()["height"]
    assert height > size[1] / 2.2, "the picture has most of the window"
