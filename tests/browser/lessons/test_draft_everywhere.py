"""The draft editor by keyboard alone, and on a phone."""

import re

from playwright.sync_api import Locator, Page, expect

from attnviz.lessons.draft import Draft, DraftStep
from tests.browser.screens.phone import PHONE, SMALL

FOCUSED = "() => document.activeElement.closest('button, input, textarea')?.innerText ?? ''"
SENTENCES = "Yes\nNo\nOnly while it is trained\nOnly in the last layer"
CHOICE = {"kind": "choice", "ask": "Does a row see what comes later?", "options": SENTENCES, "right": "2"}
LINK = "/masks?src=I+love+you.&to=fr"
STEPS = (DraftStep("Alpha", "", LINK, {}), DraftStep("Beta", "", LINK, CHOICE))
DRAFT = Draft("What a row sees", "10", "anybody", "en", "", STEPS)


def open_editor(page: Page, settle, number: int) -> Page:
    """Open the editor of a draft with two steps, at one of them."""
    page.goto(f"/lessons?edit={number}")
    page.evaluate(f"localStorage['attnviz-draft'] = JSON.stringify({{ revision: 1, draft: {DRAFT.to_json()} }})")
    page.reload()
    expect(page.get_by_label("Title of the step")).to_have_value(STEPS[number - 1].title)
    settle(page)
    return page


def reach(page: Page, name: str, key: str = "Tab") -> None:
    for _ in range(40):
        if name in page.evaluate(FOCUSED):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not reach {name}")


def enter(page: Page, name: str, key: str = "Tab") -> None:
    """Go to a button by the keyboard, and press it."""
    reach(page, name, key)
    page.keyboard.press("Enter")


def way(page: Page, number: int) -> Locator:
    """Return the button that opens a step."""
    return page.locator(f".st-key-draft-open-{number} button").first


def test_by_keyboard_alone_and_the_focus_is_never_lost(page: Page, settle) -> None:
    open_editor(page, settle, 1)
    enter(page, "Beta")
    expect(way(page, 2)).to_have_attribute("aria-current", "step")
    expect(way(page, 2)).to_be_focused()
    enter(page, "Up")
    expect(way(page, 1)).to_have_text("1 Beta")
    expect(way(page, 1)).to_be_focused()  # a first step has no way up
    enter(page, "Delete")
    expect(way(page, 1)).to_have_text("1 Alpha")
    expect(page.locator(".st-key-draft-delete button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(way(page, 0)).to_be_focused()
    expect(way(page, 0)).to_have_attribute("aria-current", "step")

    enter(page, "Check all steps", "Shift+Tab")
    told = page.locator(".st-key-draft-told")
    expect(told).to_contain_text("A lesson has steps: add one.")
    expect(told).to_be_in_viewport(ratio=1)
    page.get_by_label("Title", exact=True).focus()
    page.keyboard.press("End")
    page.keyboard.type(" at first", delay=30)
    expect(told.get_by_text("The check")).to_have_count(0)
    page.keyboard.type(" sight", delay=30)
    expect(page.get_by_label("Title", exact=True)).to_have_value("What a row sees at first sight")


def test_on_a_phone_every_target_is_hit_and_no_sentence_is_cut_off(visitor, settle) -> None:
    page = open_editor(visitor(**PHONE, color_scheme="dark").new_page(), settle, 1)
    way(page, 2).tap()
    sentences = page.get_by_label("The answers, one per line")
    expect(sentences).to_have_value(SENTENCES)
    expect(page.get_by_text("Right is No.")).to_be_visible()
    settle(page)
    assert sentences.evaluate("(field) => field.scrollHeight - field.clientHeight") <= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(SMALL) == []
    hints = page.get_by_label(re.compile("hint")).evaluate_all("(fields) => fields.map((field) => field.ariaLabel)")
    assert [label.split()[0] for label in hints] == ["First", "Second", "Third"]
    page.get_by_role("button", name="Up", exact=True).tap()
    expect(way(page, 1)).to_have_text("1 Beta")
    expect(page).to_have_url(re.compile("edit=1"))
