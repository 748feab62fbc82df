"""The address as a visitor lives with it: Back undoes one choice or one page, and nothing that was typed is lost."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.address.walking import SENTENCE, address_params, entries, focus, follow_menu, source, type_sentence

LINK = "/heads?v=1&src=I+love+you.&to=de&tgt=Hund&kind=decoder_self&layer=2&head=3"
# Each page, and something of it that names the head in focus.
PAGES = ("Heads", "Masks", "Decoding", "Anatomy", "Implementations")


def press(page: Page, settle: Callable, key: str) -> None:
    """Choose with the keyboard in the Heads picture, and wait until the address says so."""
    before = page.url
    page.locator("[data-attnviz-painted]").first.get_by_role("grid").first.focus()
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != before)
    settle(page)


def language(page: Page):
    return page.get_by_role("combobox", name="To")


@pytest.fixture
def page(fresh_page: Page) -> Page:
    """Open a page whose history has room: the test counts entries, and a browser keeps fifty."""
    return fresh_page


@pytest.fixture
def page_after_four_steps(page: Page, settle: Callable) -> Page:
    """Two sentences typed on Heads, German chosen, then the Masks page: four steps."""
    page.goto("/heads?to=fr")
    settle(page)
    before = entries(page)
    type_sentence(page, settle, SENTENCE)
    type_sentence(page, settle, "We love you.")
    language(page).click()
    page.get_by_role("option", name="German").click()
    expect(page).to_have_url(re.compile("to=de"))
    settle(page)
    follow_menu(page, settle, "Masks")
    assert entries(page) == before + 4
    return page


def test_back_undoes_a_choice_at_a_time_forward_brings_all_back_and_so_does_a_reload(
    page_after_four_steps: Page, settle: Callable
) -> None:
    count, here = entries(page_after_four_steps), page_after_four_steps.url
    steps = (("heads", "We love you.", "German"), ("heads", "We love you.", "French"), ("heads", SENTENCE, "French"))
    for name, sentence, title in steps:
        page_after_four_steps.go_back()
        expect(page_after_four_steps).to_have_url(re.compile(f"/{name}\\b"))
        expect(source(page_after_four_steps)).to_have_value(sentence)
        expect(language(page_after_four_steps)).to_have_value(title)
        settle(page_after_four_steps)
        expect(page_after_four_steps.locator(".strip")).to_contain_text(sentence.split()[1])
    assert entries(page_after_four_steps) == count
    for _ in steps:
        page_after_four_steps.go_forward()  # within milliseconds, across pages, Streamlit's own script adds entries
        settle(page_after_four_steps)
    shows_all(page_after_four_steps, here)
    settle(page_after_four_steps)
    page_after_four_steps.reload()
    settle(page_after_four_steps)
    shows_all(page_after_four_steps, here)
    assert entries(page_after_four_steps) == count


def shows_all(page: Page, url: str) -> None:
    expect(page).to_have_url(url)
    expect(source(page)).to_have_value("We love you.")
    expect(language(page)).to_have_value("German")


def test_after_a_link_every_page_has_its_sentence_and_its_head_one_step_of_back_each(
    page: Page, settle: Callable
) -> None:
    """Back is pressed faster than a page runs, and ends where it leads to; Forward is pressed page by page."""
    page.goto(LINK)
    settle(page)
    start, visited = entries(page), [page.url]
    assert focus(page) == ("decoder_self", "2", "3")
    for count, name in enumerate(PAGES[1:], start=1):
        follow_menu(page, settle, name)
        assert entries(page) == start + count, name
        expect(page.get_by_role("combobox", name="To")).to_have_value("German")
        shows_sentence_and_head(page)
        visited.append(page.url)
    for pause in (150, 300, 20, 0):  # milliseconds: a run has begun, and its page is left again
        page.evaluate("history.back()")
        page.wait_for_timeout(pause)
    expect(page.locator("[data-attnviz-painted]")).to_have_class(re.compile("avz"))
    settle(page)
    expect(page).to_have_url(visited[0])
    assert focus(page) == ("decoder_self", "2", "3")
    for url in visited[1:]:
        page.go_forward()
        expect(page).to_have_url(url)
        settle(page)
        shows_sentence_and_head(page)
    assert entries(page) == start + 4
    follow_menu(page, settle, "Masks")  # and a choice changes the page as before
    assert focus(page)[-2:] == ("2", "3")


def shows_sentence_and_head(page: Page) -> None:
    expect(source(page)).to_have_value("I love you.")
    expect(page.get_by_label("Target (empty: the model translates)")).to_have_value("Hund")
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    assert focus(page)[-2:] == ("2", "3"), page.url


def test_a_parameter_belongs_to_one_page_and_waits_there(page: Page, settle: Callable) -> None:
    page.goto("/heads?src=I+love+you.&to=fr")
    settle(page)
    page.get_by_role("radio", name="Neuron").click()
    expect(page).to_have_url(re.compile("tab=neuron"))
    settle(page)
    follow_menu(page, settle, "Implementations")
    assert "tab" not in address_params(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    page.get_by_role("radio", name="Source").click()
    expect(page).to_have_url(re.compile("tab=source"))
    settle(page)
    follow_menu(page, settle, "Anatomy")
    page.get_by_role("radio", name="Claims").click()
    expect(page).to_have_url(re.compile("tab=claims"))
    settle(page)
    for name, own in (("Heads", "tab=neuron"), ("Implementations", "tab=source"), ("Anatomy", "tab=claims")):
        follow_menu(page, settle, name)
        expect(page).to_have_url(re.compile(own))
        assert len(set(address_params(page)) & {"tab"}) == 1, page.url
    for own in ("tab=source", "tab=neuron"):
        page.go_back()
        expect(page).to_have_url(re.compile(own))
        settle(page)
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
    expect(page.get_by_role("radio", name="Neuron")).to_be_checked()


def test_a_copied_link_shows_somebody_else_the_same_and_visitors_do_not_meet(
    page: Page, visitor: Callable[..., BrowserContext], settle: Callable
) -> None:
    page.goto(LINK)
    settle(page)
    type_sentence(page, settle, SENTENCE)
    other = visitor().new_page()
    other.goto(page.url)
    settle(other)
    expect(source(other)).to_have_value(SENTENCE)
    assert focus(other) == focus(page) == ("decoder_self", "2", "3")
    type_sentence(other, settle, "We love you.")
    page.reload()
    settle(page)
    expect(source(page)).to_have_value(SENTENCE)


def test_a_picture_in_a_frame_adds_nothing_to_the_history_of_the_page_around_it(page: Page, address: str) -> None:
    page.goto("/_stcore/health")
    page.set_content(f'<iframe src="{address}/heads?src=I+love+you." width=1300 height=800></iframe>')
    picture = page.frame_locator("iframe").locator("[data-attnviz-painted]")
    expect(picture).to_be_visible()
    before = page.evaluate("history.length")
    page.frame_locator("iframe").get_by_role("gridcell", name="L0 H3").click()
    page.frame_locator("iframe").get_by_role("gridcell", name="L0 H3", selected=True).wait_for()
    frame = page.frames[1]
    frame.wait_for_function("() => new URLSearchParams(location.search).get('head') === '3'")
    assert page.evaluate("history.length") == before
