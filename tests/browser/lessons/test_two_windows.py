"""A lesson on two screens: the panel in a window of its own, the picture in the first."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.heads.tabs import CELL
from tests.browser.lessons.test_whole_lesson import SUM

HEADS = "/heads?src=The+red+dog+sleeps.&to=fr&tgt=Le+chien+rouge+dort.&kind=cross&layer=2&head=4"
LESSON = "&lesson=1-what-a-head-looks-at&lesson_step=1"
ELSEWHERE = "Lesson in another window"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def wait_for_numbers(page: Page) -> None:
    """Wait until the numbers of the six rows have come."""
    picture = page.locator("[data-attnviz-painted]")
    for _ in range(300):
        if picture.evaluate(SUM) > 5.9:
            return
        page.wait_for_timeout(100)
    raise AssertionError("what was answered stays covered")


def open_window(page: Page, settle) -> Page:
    """Open the window of the panel, after one that the browser has blocked."""
    page.evaluate("() => ([window.opens, window.open] = [window.open, () => null])")
    press(page, "Own window")
    expect(page.get_by_text("The browser has blocked the window. Please allow pop-ups")).to_be_visible()
    page.evaluate("() => (window.open = window.opens)")
    with page.expect_popup() as popup:
        press(page, "Own window")
    expect(page.get_by_text(ELSEWHERE)).to_be_visible()
    settle(popup.value)
    settle(page)
    return popup.value


def test_a_step_on_two_screens(visitor, settle) -> None:
    context: BrowserContext = visitor()
    page = context.new_page()
    page.goto(HEADS + LESSON)
    settle(page)
    entries = page.evaluate("history.length")
    panel = open_window(page, settle)
    assert page.evaluate("history.length") == entries, "a window is no step of Back"
    expect(page.get_by_text("Guess before you look")).to_be_hidden()
    expect(panel.get_by_role("link", name="Heads")).to_be_hidden()

    picture = page.locator("[data-attnviz-painted]")
    assert picture.evaluate(SUM) == 0, "covered is not there"
    page.mouse.click(*picture.evaluate(CELL, [2, 2]))
    expect(panel.get_by_role("combobox", name="Key")).to_have_value("2  dog")
    press(panel, "Answer")
    expect(panel.get_by_text("chien → rouge × red (0.99)")).to_be_visible()
    wait_for_numbers(page)
    press(panel, "Next")
    expect(page).to_have_url(re.compile("lesson_step=2.*beside="))
    expect(panel).to_have_url(re.compile("/lessons.*lesson_step=2.*panel="))
    settle(page)
    page.go_back()
    expect(panel.get_by_text("1 of 6")).to_be_visible()

    panel.reload()
    expect(panel.get_by_text("chien → rouge × red (0.99)")).to_be_visible()  # the picture's window has told it
    page.reload()
    expect(page.get_by_text(ELSEWHERE)).to_be_visible()
    wait_for_numbers(page)  # what was answered stays so
    panel.close()
    expect(page.get_by_text("chien → rouge × red (0.99)")).to_be_visible()
    expect(page.get_by_text(ELSEWHERE)).to_be_hidden()
