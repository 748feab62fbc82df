"""On a phone question, picture and the button Answer are in one screen, in a class and in a lesson."""

import json
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from attnviz.classroom.room import Classroom
from tests.browser.classes.kinds import CELL, CHOICE, LESSON, LONG_ROW, ROW, TEXT, class_at
from tests.browser.screens.phone import PHONE

SMALL = (360, 640)
SIZES = ((390, 844), SMALL)
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


def student(visitor, classes: Classroom, code: str) -> Page:
    page = visitor(**PHONE).new_page()
    seats = json.dumps({code: classes.students.join(code, "Ann").token})
    page.context.add_init_script(f"localStorage.setItem('attnviz-class', {seats!r})")
    page.goto(f"/class?class={code}")
    return page


def resize(page: Page, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})


def require_one_screen_at_each_size(page: Page) -> None:
    for size in SIZES:
        resize(page, size)
        page.wait_for_function(ONE_SCREEN)


def require_nothing_is_out_of_reach(page: Page) -> None:
    """Require that the page, scrolled to its end, ends above the bar at the foot of the window."""
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    form = page.locator(".st-key-lesson-form").bounding_box()
    last = page.locator("[data-picture]").first.bounding_box()
    assert form is not None
    assert last is not None
    assert last["y"] + last["height"] <= form["y"]
    page.locator(".st-key-lesson-form").evaluate("(form) => form.scrollTo(0, 1e6)")


def test_no_part_of_a_class_is_out_of_reach_on_a_phone(visitor, classes) -> None:
    key = class_at(classes, CELL)
    page = student(visitor, classes, key.code)
    for at, step in enumerate(LESSON.steps):
        classes.teachers.go(key, at)
        classes.teachers.open(key)
        expect(page.locator(".lesson-line")).to_contain_text(step.question.ask)
        require_one_screen_at_each_size(page)
        if at in (ROW, LONG_ROW):
            expect(page.locator(".st-key-lesson-form")).to_contain_text(
                "Your row counts as right if it shares at least 90%"
            )
            page.wait_for_function(NAMED)
    require_nothing_is_out_of_reach(page)


def test_no_part_of_a_lesson_is_out_of_reach_on_a_phone(new_tab, settle) -> None:
    """Its questions stand as a class's do, over two buttons instead of one."""
    page = new_tab(**PHONE)
    for at in (CELL, CHOICE, TEXT, LONG_ROW):
        query = urlencode({**LESSON.picture(at).texts, "lesson": "kinds", "lesson_step": at + 1})
        page.goto(f"/heads?{query}")
        settle(page)
        require_one_screen_at_each_size(page)
    require_nothing_is_out_of_reach(page)


def test_what_is_right_and_the_way_on_stand_below_the_picture(new_tab, settle) -> None:
    page = new_tab(**PHONE)
    resize(page, SMALL)
    page.goto(f"/heads?{urlencode({**LESSON.picture(CELL).texts, 'lesson': 'kinds', 'lesson_step': 1})}")
    settle(page)
    page.get_by_role("button", name="Skip and show").tap()
    expect(page.get_by_text("But this head looks at what has to come out")).to_be_visible()
    onward = page.get_by_role("button", name="Next").bounding_box()
    assert onward is not None
    assert onward["y"] + onward["height"] <= SMALL[1]
