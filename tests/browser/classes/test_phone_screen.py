"""On a phone question, picture and the button Answer are in one screen, in a class and in a lesson."""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from attnviz.classroom.room import Classroom
from attnviz.lessons.reading import read
from tests.browser.classes.held import CELL, LESSON, LONG_ROW, ROW, class_at, dashboard_and_classes
from tests.browser.screens.phone import PHONE

SIZES = [(390, 844), (360, 640)]
STEPS = range(LONG_ROW + 1)
# Whether each of the three lies in the window, and nothing lies on its foot.
ONE_SCREEN = """() => {
  const find = (name) => document.querySelector(name);
  const picture = find("[data-picture]")?.shadowRoot.querySelector(".map-box");
  const nodes = [find(".lesson-line b"), picture, find("[class*=st-key-][class*=-submit] button")];
  return nodes.every((node) => {
    if (!node) return false;
    const { top, bottom, left, right, width } = node.getBoundingClientRect();
    const isIn = top >= 0 && left >= 0 && right <= innerWidth && bottom <= innerHeight;
    return isIn && node.contains(node.getRootNode().elementFromPoint(left + width / 2, bottom - 3));
  });
}"""
NAMED = """() => {
  const { tiles, payload } = document.querySelector("[data-picture]").shadowRoot.querySelector("[lang=und]").attnviz;
  return tiles[0].named.rows.includes(payload.header.lesson?.row);
}"""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Classroom]]:
    with dashboard_and_classes(tmp_path_factory.mktemp("phones")) as held:
        yield held


@pytest.fixture(scope="module")
def address(held: tuple[str, Classroom]) -> str:
    return held[0]


@pytest.fixture(scope="module")
def classes(held: tuple[str, Classroom]) -> Classroom:
    return held[1]


def phone(visitor, size: tuple[int, int]) -> Page:
    return visitor(**PHONE | {"viewport": {"width": size[0], "height": size[1]}}).new_page()


def student(visitor, classes: Classroom, code: str, size: tuple[int, int]) -> Page:
    page = phone(visitor, size)
    seats = json.dumps({code: classes.students.join(code, "Ann").token})
    page.context.add_init_script(f"localStorage.setItem('attnviz-class', {seats!r})")
    page.goto(f"/class?class={code}")
    return page


def require_nothing_is_out_of_reach(page: Page) -> None:
    """Scrolled to its end, the page ends above what stands at the foot of the window."""
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    form = page.locator(".st-key-lesson-form").bounding_box()
    last = page.locator("[data-picture]").first.bounding_box()
    assert form is not None
    assert last is not None
    assert last["y"] + last["height"] <= form["y"]
    page.locator(".st-key-lesson-form").evaluate("(form) => form.scrollTo(0, 1e6)")


@pytest.mark.parametrize("size", SIZES)
def test_in_a_class(visitor, classes, size) -> None:
    key = class_at(classes, CELL)
    page = student(visitor, classes, key.code, size)
    steps = read(LESSON.read_text(encoding="utf-8")).steps
    for at in STEPS:
        classes.teachers.go(key, at)
        expect(page.locator(".lesson-line")).to_contain_text(steps[at].question.ask)
        page.wait_for_function(ONE_SCREEN)
        if at in (ROW, LONG_ROW):
            expect(page.locator(".st-key-lesson-form")).to_contain_text("It counts as right from 90%")
            page.wait_for_function(NAMED)
    require_nothing_is_out_of_reach(page)


@pytest.mark.parametrize("size", SIZES)
def test_in_a_lesson(visitor, settled, size) -> None:
    page = phone(visitor, size)
    lesson = read(LESSON.read_text(encoding="utf-8"))
    for at in STEPS:
        query = urlencode({**lesson.picture(at).texts, "lesson": "kinds", "lesson_step": at + 1})
        page.goto(f"/heads?{query}")
        settled(page)
        page.wait_for_function(ONE_SCREEN)
    require_nothing_is_out_of_reach(page)


def test_what_is_right_and_the_way_on_stand_below_the_picture(visitor, settled) -> None:
    size = SIZES[1]
    page = phone(visitor, size)
    lesson = read(LESSON.read_text(encoding="utf-8"))
    page.goto(f"/heads?{urlencode({**lesson.picture(CELL).texts, 'lesson': 'kinds', 'lesson_step': 1})}")
    settled(page)
    page.get_by_role("button", name="Skip and show").tap()
    expect(page.get_by_text("But this head looks at what has to come out")).to_be_visible()
    onward = page.get_by_role("button", name="Next").bounding_box()
    assert onward is not None
    assert onward["y"] + onward["height"] <= size[1]
