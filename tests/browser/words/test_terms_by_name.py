"""A word that stops a student says what it means: where it stands on the page, by keyboard and finger, and once.

tests/app/pages/test_terms.py has that every word of every page is defined, tests/browser/masks/test_words.py has the
words of Masks under the pointer.
"""

import re

from playwright.sync_api import Locator, Page, expect

from attnviz.kit.glossary import words_of
from tests.browser.at_rest import wait_in_page

SRC = "src=I+love+you&to=fr"
HOLD = """(node) => node.dispatchEvent(new PointerEvent("pointerdown",
  { bubbles: true, composed: true, pointerType: "touch" }))"""

# The corner of a term's first line: a term of several words may start at the end of one line and end on the next.
FIRST_LINE = "(node) => { const box = node.getClientRects()[0]; return [box.left, box.top]; }"


def bubble(page: Page) -> Locator:
    return page.locator(".definitions:popover-open")


def find_word(page: Page, word: str) -> Locator:
    """Find a word on the page: a marked term, a button, or a field's label."""
    label = page.locator("[data-testid=stWidgetLabel]:visible").filter(has_text=re.compile(rf"^{re.escape(word)}\b"))
    button = page.locator("button:visible").filter(has=page.get_by_text(word, exact=True))
    tool = page.get_by_role("button", name=word, exact=True)
    return page.locator(f'[data-term="{word}"]:visible').or_(button).or_(tool).or_(label).first


def test_a_word_says_what_it_means(page: Page, settle) -> None:
    page.goto(f"/anatomy?{SRC}&layout=batch_first")
    settle(page)
    for word in ("contig.", "Shape walk", "Memory order", "Layer"):
        where = find_word(page, word)
        where.scroll_into_view_if_needed()
        x, y = where.evaluate(FIRST_LINE)
        page.mouse.move(x + 4, y + 4)
        expect(bubble(page).locator("p")).to_have_text(words_of("Anatomy")[word])
        page.mouse.move(700, 5)
        expect(bubble(page)).to_have_count(0)


def test_a_field_is_explained_when_the_tab_key_comes_to_it_and_not_while_it_is_typed_into(page: Page, settle) -> None:
    page.goto(f"/heads?{SRC}")
    settle(page)
    page.get_by_label("Source sentence").click()
    expect(bubble(page)).to_have_count(0)
    page.keyboard.press("Tab")
    expect(bubble(page).locator("p")).to_have_text(words_of("Heads")["To"])
    page.keyboard.press("Tab")
    expect(bubble(page).locator("p")).to_have_text(words_of("Heads")["Target"])
    page.keyboard.type("je")
    expect(bubble(page)).to_have_count(0)


def test_a_finger_that_rests_on_a_button_asks_and_one_that_taps_it_presses(new_tab, settle) -> None:
    page = new_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(f"/masks?{SRC}")
    settle(page)
    rule = page.get_by_test_id("stButtonGroup").get_by_text("wait-k", exact=True)
    rule.tap()
    wait_in_page(page, 700)
    expect(bubble(page)).to_have_count(0)
    expect(page).to_have_url(re.compile("masks=[^&]*wait-k"))
    settle(page)
    rule.evaluate(HOLD)
    expect(bubble(page).locator("p")).to_have_text(words_of("Masks")["wait-k"])


def test_an_unchanged_answer_sends_no_words_again_and_another_page_has_its_own(page: Page, settle) -> None:
    sent: list[bytes | str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(frame)))
    page.goto(f"/masks?{SRC}")
    settle(page)
    words = words_of("Masks")["dilated"].encode()
    assert any(words in _bytes(frame) for frame in sent)
    sent.clear()
    page.get_by_role("button", name="Run", exact=True).click()
    while not sent:
        page.wait_for_timeout(20)
    settle(page)
    assert not any(words in _bytes(frame) for frame in sent)
    page.get_by_role("link", name="Anatomy").first.click()
    expect(page.get_by_text("Shape walk", exact=True)).to_be_visible()
    settle(page)
    page.get_by_text("Shape walk", exact=True).hover()
    expect(bubble(page).locator("p")).to_have_text(words_of("Anatomy")["Shape walk"])
    expect(page.locator(".definitions")).to_have_count(1)


def _bytes(frame: bytes | str) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()
