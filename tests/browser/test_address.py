"""The address as a visitor lives with it: Back undoes one choice or one page, and nothing that was typed is lost."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.address.walking import SENTENCE, asked, entries, focus, source, to_page, typed

LINK = "/heads?v=1&src=I+love+you.&to=de&kind=decoder_self&layer=2&head=3"
# Each page, and something of it that names the head in focus.
PAGES = ("Heads", "Masks", "Decoding", "Anatomy", "Implementations")


def press(page: Page, settled: Callable, key: str) -> None:
    """Choose with the keyboard in the Heads picture, and wait until the address says so."""
    before = page.url
    page.locator("[data-attnviz-painted]").first.get_by_role("grid").first.focus()
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != before)
    settled(page)


def language(page: Page):
    return page.get_by_role("combobox", name="To")


@pytest.fixture
def page(fresh_page: Page) -> Page:
    """One whose history has room: it is counted, and ends at fifty entries."""
    return fresh_page


@pytest.fixture
def walked(page: Page, settled: Callable) -> Page:
    """Two sentences typed on Heads, German chosen, then the Masks page: four steps."""
    page.goto("/heads?to=fr")
    settled(page)
    before = entries(page)
    typed(page, settled, SENTENCE)
    typed(page, settled, "We love you.")
    language(page).click()
    page.get_by_role("option", name="German").click()
    expect(page).to_have_url(re.compile("to=de"))
    settled(page)
    to_page(page, settled, "Masks")
    assert entries(page) == before + 4
    return page


def test_back_undoes_a_choice_at_a_time_forward_brings_all_back_and_so_does_a_reload(
    walked: Page, settled: Callable
) -> None:
    count, here = entries(walked), walked.url
    steps = (("heads", "We love you.", "German"), ("heads", "We love you.", "French"), ("heads", SENTENCE, "French"))
    for name, sentence, title in steps:
        walked.go_back()
        expect(walked).to_have_url(re.compile(f"/{name}\\b"))
        expect(source(walked)).to_have_value(sentence)
        expect(language(walked)).to_have_value(title)
        settled(walked)
        expect(walked.locator(".strip")).to_contain_text(sentence.split()[1])
    assert entries(walked) == count
    for _ in steps:
        walked.go_forward()  # within milliseconds, across pages, Streamlit's own script adds entries
        settled(walked)
    shows_all(walked, here)
    settled(walked)
    walked.reload()
    settled(walked)
    shows_all(walked, here)
    assert entries(walked) == count


def shows_all(page: Page, url: str) -> None:
    expect(page).to_have_url(url)
    expect(source(page)).to_have_value("We love you.")
    expect(language(page)).to_have_value("German")


def test_after_a_link_every_page_has_its_sentence_and_its_head_one_step_of_back_each(
    page: Page, settled: Callable
) -> None:
    page.goto(LINK)
    settled(page)
    start, visited = entries(page), [page.url]
    assert focus(page) == ("decoder_self", "2", "3")
    for count, name in enumerate(PAGES[1:], start=1):
        to_page(page, settled, name)
        assert entries(page) == start + count, name
        expect(source(page)).to_have_value("I love you.")
        expect(page.get_by_role("combobox", name="To")).to_have_value("German")
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
        assert focus(page)[-2:] == ("2", "3"), name
        visited.append(page.url)
    for url in reversed(visited[:-1]):
        page.go_back()
        expect(page).to_have_url(url)
        settled(page)
        expect(source(page)).to_have_value("I love you.")
        assert focus(page)[-2:] == ("2", "3"), url
    assert entries(page) == start + 4


def test_back_pressed_faster_than_a_page_runs_ends_where_it_leads_to(page: Page, settled: Callable) -> None:
    page.goto(LINK)
    settled(page)
    first, start = page.url, entries(page)
    for name in PAGES[1:]:
        to_page(page, settled, name)
    for pause in (150, 300, 20, 0):  # milliseconds: a run has begun, and its page is left again
        page.evaluate("history.back()")
        page.wait_for_timeout(pause)
    expect(page.locator("[data-attnviz-painted]")).to_have_class(re.compile("avz"))
    settled(page)
    expect(page).to_have_url(first)
    assert focus(page) == ("decoder_self", "2", "3")
    assert entries(page) == start + 4
    to_page(page, settled, "Masks")  # and a choice changes the page as before
    assert focus(page)[-2:] == ("2", "3")


def test_a_parameter_belongs_to_one_page_and_waits_there(page: Page, settled: Callable) -> None:
    page.goto("/heads?src=I+love+you.&to=fr")
    settled(page)
    page.get_by_role("radio", name="Neuron").click()
    expect(page).to_have_url(re.compile("tab=neuron"))
    settled(page)
    to_page(page, settled, "Implementations")
    assert "tab" not in asked(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    page.get_by_role("radio", name="Source").click()
    expect(page).to_have_url(re.compile("tab=source"))
    settled(page)
    to_page(page, settled, "Anatomy")
    page.get_by_role("radio", name="Claims").click()
    expect(page).to_have_url(re.compile("tab=claims"))
    settled(page)
    for name, own in (("Heads", "tab=neuron"), ("Implementations", "tab=source"), ("Anatomy", "tab=claims")):
        to_page(page, settled, name)
        expect(page).to_have_url(re.compile(own))
        assert len(set(asked(page)) & {"tab"}) == 1, page.url
    for own in ("tab=source", "tab=neuron"):
        page.go_back()
        expect(page).to_have_url(re.compile(own))
        settled(page)
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
    expect(page.get_by_role("radio", name="Neuron")).to_be_checked()


def test_a_copied_link_shows_somebody_else_the_same_and_visitors_do_not_meet(
    page: Page, visitor: Callable[..., BrowserContext], settled: Callable
) -> None:
    page.goto(LINK)
    settled(page)
    typed(page, settled, SENTENCE)
    other = visitor().new_page()
    other.goto(page.url)
    settled(other)
    expect(source(other)).to_have_value(SENTENCE)
    assert focus(other) == focus(page) == ("decoder_self", "2", "3")
    typed(other, settled, "We love you.")
    page.reload()
    settled(page)
    expect(source(page)).to_have_value(SENTENCE)
