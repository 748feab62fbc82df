"""A lesson from its first question to its end: by mouse beside the picture, by keyboard and by touch on a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.at_rest import wait_in_page
from tests.browser.heads.tabs import CELL
from tests.browser.screens.phone import PHONE

LESSON = "1-what-a-head-looks-at"
SUM = "(root) => root.attnviz.tiles[0].map.data.reduce((sum, weight) => sum + weight, 0)"
FOCUSED = "() => document.activeElement.closest('button')?.textContent ?? ''"
Press = Callable[[Page, str], None]


def wait_for_step(page: Page, settle, number: int) -> None:
    expect(page).to_have_url(re.compile(f"lesson_step={number}\\b"))
    expect(page.locator(".lesson-line")).to_contain_text(f"step {number} of 6")
    settle(page)


def press(page: Page, name: str) -> None:
    """Press a button with the mouse."""
    page.locator(".st-key-lesson-panel").get_by_role("button", name=name).click()


def reach(page: Page, name: str) -> None:
    """Press a button with the Tab key and Enter."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if name in page.evaluate(FOCUSED):
            return page.keyboard.press("Enter")
    return pytest.fail(f"the Tab key does not reach {name}")


def press_and_read(page: Page, by: Press, button: str, words: str) -> None:
    by(page, button)
    expect(page.locator(".st-key-lesson-panel").get_by_text(words)).to_be_visible()


def onward(page: Page, settle, by: Press, number: int) -> None:
    by(page, "Next")
    wait_for_step(page, settle, number)


def unfold(page: Page) -> None:
    """Open the line that stands for the panel, by keyboard."""
    page.locator(".lesson-line summary").focus()
    page.keyboard.press("Enter")


def onward_unfolded(page: Page, settle, number: int) -> None:
    onward(page, settle, reach, number)
    unfold(page)


def draw(page: Page, bar: int, share: float) -> None:
    track = page.locator(".track").nth(bar)
    box = track.bounding_box()
    assert box is not None
    track.click(position={"x": box["width"] * share, "y": 5})
    wait_in_page(page, 600)  # Python hears when the finger rests


def test_a_whole_lesson_by_mouse(page: Page, settle) -> None:
    page.goto("/lessons")
    settle(page)
    page.get_by_role("button", name="Begin").first.click()
    wait_for_step(page, settle, 1)
    expect(page.locator("[data-attnviz-painted]")).to_contain_text("L2 H4")
    picture = page.locator("[data-attnviz-painted]")
    assert picture.evaluate(SUM) == 0, "covered is not there"

    page.mouse.click(*picture.evaluate(CELL, [2, 2]))
    wait_in_page(page, 800)  # a mark is reported when the pointer rests
    settle(page)
    press_and_read(page, press, "Answer", "chien → rouge × red (0.99)")
    settle(page)  # the panel is drawn before the picture
    assert picture.evaluate(SUM) == pytest.approx(6, abs=1e-4), "six rows"
    onward(page, settle, press, 2)
    press_and_read(page, press, "Hint", "In layer 0 the decoder reads the English for the first time.")
    press_and_read(page, press, "Skip and show", "Skipped.")
    onward(page, settle, press, 3)
    draw(page, 1, 0.9)
    press_and_read(page, press, "Answer", "shares 50% of its weight")
    expect(page.locator(".key .value").nth(1)).to_have_text("0.50")
    onward(page, settle, press, 4)
    page.get_by_text("7.39 / 11.11, its share").click()
    press_and_read(page, press, "Answer", "Right.")
    page.go_back()
    wait_for_step(page, settle, 3)
    page.go_forward()
    wait_for_step(page, settle, 4)
    expect(page.get_by_text("Right.")).to_be_visible()


def test_the_rest_by_keyboard_on_a_phone(new_tab, settle) -> None:
    page = new_tab(viewport={"width": 390, "height": 844})
    page.goto(f"/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=0&head=3&lesson={LESSON}&lesson_step=3")
    settle(page)
    panel, picture = page.locator(".st-key-lesson-panel"), page.locator("[data-attnviz-painted]")
    expect(picture).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    unfold(page)
    panel.locator(".track").nth(1).focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    expect(panel.locator(".key .value").nth(1)).to_have_text("1.00")
    wait_in_page(page, 600)
    press_and_read(page, reach, "Answer", "of its weight")
    onward_unfolded(page, settle, 4)
    panel.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    settle(page)
    press_and_read(page, reach, "Answer", "7.39 / 11.11 is 0.665.")
    onward_unfolded(page, settle, 5)
    press_and_read(page, reach, "Skip and show", "Skipped.")
    onward_unfolded(page, settle, 6)
    panel.get_by_role("combobox").focus()
    page.keyboard.type("book")
    page.keyboard.press("Enter")
    settle(page)
    press_and_read(page, reach, "Answer", "The end. 3 of 6 answered, 2 right, 1 skipped.")
    reach(page, "Next lesson")
    expect(page).to_have_url(re.compile("lesson=2-one-sentence-seventy-two-maps&lesson_step=1"))


def test_on_a_phone_the_question_stays_above_the_picture(new_tab, settle) -> None:
    page = new_tab(**PHONE)
    src = "src=The+red+dog+sleeps.&to=fr&tgt=Le+chien+rouge+dort."
    page.goto(f"/heads?{src}&kind=cross&layer=2&head=4&lesson={LESSON}&lesson_step=1")
    settle(page)
    line, picture = page.locator(".lesson-line"), page.locator("[data-attnviz-painted]")
    answer = page.get_by_role("button", name="Answer", exact=True)
    expect(line).to_contain_text("step 1 of 6 At the step that writes “rouge”, which English token")
    expect(answer).to_be_in_viewport()
    assert line.bounding_box()["y"] + line.bounding_box()["height"] < picture.bounding_box()["y"] < 300
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    expect(picture).not_to_be_in_viewport(ratio=0.9)
    expect(line.locator("b")).to_be_in_viewport(ratio=1)

    text = page.get_by_text("The model has read")
    expect(text).to_be_hidden()
    line.locator("summary").tap()
    expect(text).to_be_in_viewport()
    page.get_by_role("button", name="Skip and show").tap()
    expect(page.get_by_text("Skipped.")).to_be_in_viewport()
    expect(text).to_be_in_viewport()  # what is open stays open
    line.locator("summary").tap()
    expect(text).to_be_hidden()
    expect(page.get_by_text("Skipped.")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_its_number_pad_for_a_number(new_tab, settle) -> None:
    page = new_tab(**PHONE)
    page.goto("/decoding?src=The+red+dog+sleeps.&to=fr&lesson=6-all-at-once-and-step-by-step&lesson_step=1")
    settle(page)
    field = page.get_by_label("Your number")
    field.tap()
    expect(field).to_have_attribute("inputmode", "decimal")
    field.fill("6")
    page.get_by_role("button", name="Answer", exact=True).tap()
    expect(page.locator(".st-key-lesson-panel")).to_contain_text("Right.")
