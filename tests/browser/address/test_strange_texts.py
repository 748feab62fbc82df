"""Texts that are no plain sentence, typed or in a link: they come back as they were."""

import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.address.walking import SENTENCE, address_params, follow_menu, source, type_sentence

# Emoji, right to left, marks of an address, percent signs.
STRANGE = "👩‍👩‍👧‍👦 loves 🇫🇷 שלום مرحبا 100% & more = a+b #1? %41 %zz %"
UNTYPED = {
    "surrogate": "%ED%A0%80",
    "nul": "a%00b",
    "newline": "a%0Ab",
    "no utf-8": "%FF%FE",
    "marks": quote("\u202eabc\u200b"),
}


def test_a_strange_text_comes_back_as_it_was(page: Page, settle: Callable) -> None:
    page.goto("/heads?to=fr")
    settle(page)
    type_sentence(page, settle, STRANGE)
    follow_menu(page, settle, "Masks")
    assert address_params(page)["src"] == STRANGE
    page.reload()
    settle(page)
    expect(source(page)).to_have_value(STRANGE)


def test_a_text_that_no_keyboard_types_is_shown_or_refused_in_a_sentence(page: Page, settle: Callable) -> None:
    for text in UNTYPED.values():
        page.goto(f"/heads?to=fr&src=dog+{text}&kind={text}")
        settle(page)
        expect(source(page)).to_have_value(re.compile("^dog"))
    follow_menu(page, settle, "Masks")
    expect(source(page)).to_have_value(re.compile("^dog"))
    page.go_back()
    page.wait_for_url("**/heads*")
    page.locator(".st-key-heads").wait_for()  # the page that is left has the same field
    settle(page)
    expect(source(page)).to_have_value(re.compile("^dog"))
    type_sentence(page, settle, SENTENCE)
