"""A class on the projector, presented: on one screen, and large enough for the last row of the room."""

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.classroom.state import TeacherKey
from tests.browser.classes.kinds import CELL, CHOICE, class_at

SIZES = ((1920, 1080), (1280, 720))
# Whether nothing scrolls, each part lies in the window, and its letters come out as high as is said for 1280 pixels.
STANDS = """(parts) => {
  const stage = document.querySelector(".st-key-class-stage");
  return stage.scrollHeight <= stage.clientHeight + 1 && parts.every(([selector, least]) => {
    const node = stage.querySelector(selector);
    if (!node) return false;
    const { left, top, right, bottom, width } = node.getBoundingClientRect();
    const letters = parseFloat(getComputedStyle(node).fontSize) * (width / node.offsetWidth || 1);
    const isIn = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    return isIn && letters >= (least * innerWidth) / 1280;
  });
}"""
# Whether a part has its share of the window's width and height.
IS_LARGE = """([selector, wide, high]) => {
  const { width, height } = document.querySelector(`.st-key-class-stage ${selector}`).getBoundingClientRect();
  return width > wide * innerWidth && height > high * innerHeight;
}"""


def open_projector(visitor, key: TeacherKey) -> Page:
    page: Page = visitor().new_page()
    page.goto(f"/class?class={key.code}&present=1#teach={key.secret}")
    expect(page.locator("[data-present=page] .st-key-class-stage")).to_be_visible()
    return page


def require_in_each_window(page: Page, parts: dict[str, float], large: tuple[str, float, float]) -> None:
    """Require each part inside the window, with letters of the given pixels on 1280, and one part with its share of the
    window.
    """
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(STANDS, arg=list(parts.items()))
        page.wait_for_function(IS_LARGE, arg=list(large))


def test_while_a_question_is_open_it_stands_beside_code_and_count(visitor, classes) -> None:
    key = class_at(classes, CHOICE)
    token = classes.students.join(key.code, "Ann").token
    classes.students.answer(token, CHOICE, 0, in_round="before", client_id="1")
    classes.teachers.set_timer(key, minutes=60)
    page = open_projector(visitor, key)
    expect(page.get_by_text("1 of 1 have answered")).to_be_visible()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^5\d:\d\d left$"))
    parts = {
        ".st-key-class-question h3:not(.st-key-class-text *)": 36,
        ".st-key-class-question li:last-child": 27,
        ".class-invitation strong": 48,  # the code
        ".class-invitation span": 28,  # the address
        ".class-invitation img": 0,  # the QR code
        ".stProgress p": 28,  # how many have answered
        ".class-countdown": 28,
    }
    require_in_each_window(page, parts, large=(".class-invitation img", 1 / 6, 0))


@pytest.mark.parametrize("at", [CELL, CHOICE], ids=["a map", "bars, and a long why"])
def test_at_the_reveal_picture_answer_and_why_stand_on_one_screen(visitor, classes, at) -> None:
    key = class_at(classes, at)
    token = classes.students.join(key.code, "Ann").token
    classes.students.answer(token, at, 0 if at else [[2, 1]], in_round="before", client_id="1")
    classes.teachers.reveal(key)
    page = open_projector(visitor, key)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')._fullLayout.font.size >= 20")
    parts = {
        ".st-key-class-question h3": 36 if at == CELL else 22,
        ".js-plotly-plot .main-svg": 0,
        "[data-testid=stAlert] p": 28 if at == CELL else 16,  # the right answer
        ".st-key-class-why > :last-child p": 28 if at == CELL else 16,
    }
    require_in_each_window(page, parts, large=(".js-plotly-plot .main-svg", 0, 1 / 2.2))
