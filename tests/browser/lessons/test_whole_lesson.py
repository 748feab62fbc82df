"""A lesson from its first question to its end: by mouse beside the picture, and by keyboard on a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

LESSON = "1-what-a-head-looks-at"
# Where a cell of the large map is on the screen.
CELL = """(root, [row, col]) => {
  const { x, y, cell } = root.attnviz.tiles[0].geometry;
  const box = root.attnviz.parts.overlay.getBoundingClientRect();
  return [box.x + x + (col + 0.5) * cell.w, box.y + y + (row + 0.5) * cell.h];
}"""
SUM = "(root) => root.attnviz.tiles[0].map.data.reduce((sum, weight) => sum + weight, 0)"
FOCUSED = "() => document.activeElement.closest('button')?.textContent ?? ''"
Press = Callable[[Page, str], None]


def at_step(page: Page, settled, number: int) -> None:
    expect(page).to_have_url(re.compile(f"lesson_step={number}\\b"))
    expect(page.get_by_text(f"{number} of 6")).to_be_visible()
    settled(page)


def press(page: Page, name: str) -> None:
    """As a mouse does."""
    page.locator(".st-key-lesson-panel").get_by_role("button", name=name).click()


def reach(page: Page, name: str) -> None:
    """As the Tab key and Enter do."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if name in page.evaluate(FOCUSED):
            return page.keyboard.press("Enter")
    return pytest.fail(f"the Tab key does not reach {name}")


def told(page: Page, by: Press, button: str, words: str) -> None:
    by(page, button)
    expect(page.locator(".st-key-lesson-panel").get_by_text(words)).to_be_visible()


def onward(page: Page, settled, by: Press, number: int) -> None:
    by(page, "Next")
    at_step(page, settled, number)


def draw(page: Page, bar: int, share: float) -> None:
    track = page.locator(".track").nth(bar)
    box = track.bounding_box()
    assert box is not None
    track.click(position={"x": box["width"] * share, "y": 5})
    page.wait_for_timeout(600)  # Python hears when the finger rests


def test_a_whole_lesson_by_mouse(page: Page, settled) -> None:
    page.goto("/lessons")
    settled(page)
    page.get_by_role("button", name="Begin").first.click()
    at_step(page, settled, 1)
    expect(page.locator("[data-attnviz-painted]")).to_contain_text("L2 H4")
    picture = page.locator("[data-attnviz-painted]")
    assert picture.evaluate(SUM) == 0, "covered is not there"

    page.mouse.click(*picture.evaluate(CELL, [2, 2]))
    page.wait_for_timeout(800)  # a mark is reported when the pointer rests
    settled(page)
    told(page, press, "Answer", "chien → rouge × red (0.99)")
    assert picture.evaluate(SUM) == pytest.approx(6, abs=1e-4), "six rows"
    onward(page, settled, press, 2)
    told(page, press, "Hint", "This is the first layer.")
    told(page, press, "Skip and show", "Skipped.")
    onward(page, settled, press, 3)
    draw(page, 1, 0.9)
    told(page, press, "Answer", "share 50% of their weight")
    expect(page.locator(".key .value").nth(1)).to_have_text("0.50")
    onward(page, settled, press, 4)
    page.get_by_text("7.39 / 11.11, its share").click()
    told(page, press, "Answer", "Right.")
    page.go_back()
    at_step(page, settled, 3)
    page.go_forward()
    at_step(page, settled, 4)
    expect(page.get_by_text("Right.")).to_be_visible()


def test_the_rest_by_keyboard_on_a_phone(visitor, settled) -> None:
    page = visitor(viewport={"width": 390, "height": 844}).new_page()
    page.goto(f"/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=0&head=3&lesson={LESSON}&lesson_step=3")
    settled(page)
    panel, picture = page.locator(".st-key-lesson-panel"), page.locator("[data-attnviz-painted]")
    expect(picture).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert panel.bounding_box()["y"] > picture.bounding_box()["y"], "the picture comes first"

    panel.locator(".track").nth(1).focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    expect(panel.locator(".key .value").nth(1)).to_have_text("1.00")
    page.wait_for_timeout(600)
    told(page, reach, "Answer", "of their weight")
    onward(page, settled, reach, 4)
    panel.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    settled(page)
    told(page, reach, "Answer", "7.39 / 11.11 is 0.665.")
    onward(page, settled, reach, 5)
    told(page, reach, "Skip and show", "Skipped.")
    onward(page, settled, reach, 6)
    panel.get_by_role("combobox").focus()
    page.keyboard.type("book")
    page.keyboard.press("Enter")
    settled(page)
    told(page, reach, "Answer", "The end. Of 6 questions you answered 3")
