"""Texts that are no plain sentence, typed or in a link: they come back as they were."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.address.walking import SENTENCE, asked, source, to_page, typed

STRANGE = {
    "emoji": "👩‍👩‍👧‍👦 loves 🇫🇷",
    "right to left": "שלום مرحبا",
    "marks of an address": "100% & more = a+b #1?",
    "percent signs": "%41 %zz %",
}


@pytest.mark.parametrize("sentence", STRANGE.values(), ids=STRANGE)
def test_a_strange_text_comes_back_as_it_was(page: Page, settled: Callable, sentence: str) -> None:
    page.goto("/heads?to=fr")
    settled(page)
    typed(page, settled, sentence)
    to_page(page, settled, "Masks")
    expect(source(page)).to_have_value(sentence)
    assert asked(page)["src"] == sentence
    page.reload()
    settled(page)
    expect(source(page)).to_have_value(sentence)
    page.go_back()
    page.wait_for_url("**/heads*")
    expect(source(page)).to_have_value(sentence)
    settled(page)


@pytest.mark.parametrize(
    "text",
    ["%ED%A0%80", "a%00b", "a%0Ab", "%FF%FE", quote("‮abc​")],
    ids=["surrogate", "nul", "newline", "no utf-8", "marks"],
)
def test_a_text_that_no_keyboard_types_is_shown_or_refused_in_a_sentence(
    page: Page, settled: Callable, text: str
) -> None:
    page.goto(f"/heads?to=fr&src=dog+{text}&kind={text}")
    settled(page)
    expect(source(page)).to_have_value(re.compile("^dog"))
    to_page(page, settled, "Masks")
    expect(source(page)).to_have_value(re.compile("^dog"))
    page.go_back()
    page.wait_for_url("**/heads*")
    page.locator(".st-key-heads").wait_for()  # the page that is left has the same field
    settled(page)
    expect(source(page)).to_have_value(re.compile("^dog"))
    typed(page, settled, SENTENCE)
