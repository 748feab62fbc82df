"""A conversation in the top bar: begun from a text, edited, undone, and shown as the model reads it."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.screens.phone import PHONE, SMALL

SAID = [["system", "The cat sat."], ["user", "It sleeps on."]]


@pytest.fixture
def page(fresh_page: Page) -> Page:
    """Open a page whose history has room."""
    return fresh_page


def open_page(page: Page, settle: Callable, title: str, **texts: str) -> None:
    page.goto(f"/{title}?{urlencode({'new': '3'} | texts)}")
    settle(page)


def turns(page: Page) -> list[list[str]]:
    """Return the conversation that the address says; none where it says a text."""
    said = parse_qs(urlsplit(page.url).query).get("chat")
    return json.loads(said[0]) if said else []


def conversation(page: Page) -> Locator:
    """Return the button that opens the conversation."""
    return page.locator(".st-key-chat-open button").first


def choose(page: Page, settle: Callable, form: str) -> None:
    page.get_by_role("combobox", name="Input").click()
    page.get_by_role("option", name=form).click()
    has_chat = re.compile(r"[?&]chat=")
    (expect(page).to_have_url if form == "Conversation" else expect(page).not_to_have_url)(has_chat)
    settle(page)


def say(page: Page, settle: Callable, turn: str, text: str) -> None:
    """Type a turn, and leave its field as the keyboard does."""
    field = page.get_by_role("textbox", name=turn)
    field.fill(text)
    field.press("Control+Enter")
    expect(page).to_have_url(re.compile(re.escape(urlencode({"": text})[1:]).replace("%21", "(!|%21)")))
    settle(page)


def test_a_text_becomes_a_conversation_is_edited_and_undone(page: Page, settle: Callable, chat_folder: str) -> None:
    open_page(page, settle, "heads", model=chat_folder, src="It sleeps on.")
    choose(page, settle, "Conversation")
    assert turns(page) == [["user", "It sleeps on."]]
    conversation(page).click()
    page.get_by_role("button", name="Add a system turn").click()
    expect(page.get_by_text("Turn 1 is empty and is not read yet")).to_be_visible()
    say(page, settle, "1. System", "The cat sat.")
    assert turns(page) == SAID
    expect(page.get_by_text("Turn 1 is empty and is not read yet")).to_have_count(0)
    page.get_by_role("button", name="Add an assistant turn").click()
    say(page, settle, "3. Assistant", "A cat.")
    page.get_by_role("button", name="Add a user turn").click()
    say(page, settle, "4. User", "And the dog?")
    assert [role for role, _ in turns(page)] == ["system", "user", "assistant", "user"]
    page.keyboard.press("Escape")
    expect(conversation(page)).to_contain_text("4 turns: And the dog?")
    page.go_back()
    settle(page)
    assert turns(page)[-1] == ["user", ""]
    page.reload()
    settle(page)
    assert len(turns(page)) == 4
    choose(page, settle, "Text")
    expect(page.get_by_role("textbox", name="Prompt")).to_have_value("It sleeps on.")
    choose(page, settle, "Conversation")
    assert len(turns(page)) == 4


def test_an_example_is_asked_in_the_place_of_the_last_question(page: Page, settle: Callable, chat_folder: str) -> None:
    open_page(page, settle, "heads", model=chat_folder, chat=json.dumps(SAID))
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem").first.click()
    expect(page).not_to_have_url(re.compile("sleeps"))
    settle(page)
    assert [role for role, _ in turns(page)] == ["system", "user"]
    assert turns(page)[0] == SAID[0]


def test_the_menu_leads_to_pages_with_the_conversation(page: Page, settle: Callable, chat_folder: str) -> None:
    open_page(page, settle, "heads", model=chat_folder, chat=json.dumps(SAID))
    for title in ("Masks", "Causes"):  # tests/app/frame/test_conversation.py runs it on every page
        page.get_by_test_id("stSidebar").get_by_role("link", name=title, exact=True).click()
        page.wait_for_url(re.compile(title.lower()))
        settle(page)
        assert turns(page) == SAID
        expect(page.get_by_test_id("stAlert").filter(has=page.get_by_text("error"))).to_have_count(0)


def test_a_conversation_fits_a_phone(new_tab: Callable, settle: Callable, chat_folder: str) -> None:
    page = new_tab(color_scheme="dark", **PHONE)
    open_page(page, settle, "heads", model=chat_folder, chat=json.dumps(SAID))
    page.get_by_role("button", name="Bar: It sleeps on.").tap()
    conversation(page).tap()
    read = page.locator(".chat-read")
    expect(read).to_contain_text("<|im_start|>")
    expect(page.get_by_role("textbox", name="2. User")).to_have_value("It sleeps on.")
    assert read.evaluate("(node) => node.scrollWidth <= node.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert [said for said in page.evaluate(SMALL) if "turn" in said] == []
    expect(page.get_by_role("button", name="Remove turn 1")).to_be_visible()
    say(page, settle, "2. User", "The dog?")
    assert turns(page)[1] == ["user", "The dog?"]
