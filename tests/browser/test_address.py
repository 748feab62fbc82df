"""The address as a visitor lives with it: Back undoes one choice or one page, and nothing that was typed is lost."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from attnviz.views.labels import KINDS
from tests.browser import server

SENTENCE = "The dog sleeps."
LINK = "/heads?v=1&src=I+love+you.&to=de&kind=decoder_self&layer=2&head=3"
# Each page, and something of it that names the head in focus.
PAGES = ("Heads", "Masks", "Decoding", "Anatomy", "Implementations")


def asked(page: Page) -> dict[str, str]:
    """What the address says."""
    return {name: texts[-1] for name, texts in parse_qs(urlsplit(page.url).query, keep_blank_values=True).items()}


def entries(page: Page) -> int:
    return page.evaluate("history.length")


def source(page: Page):
    return page.get_by_label(re.compile("^Source sentence"))


def to_page(page: Page, settled: Callable, name: str) -> None:
    """Follow the menu, and wait for the page it leads to."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
    page.wait_for_url(f"**/{name.lower()}*")
    settled(page)


def typed(page: Page, settled: Callable, sentence: str) -> None:
    """Type a sentence, and wait until the address says it."""
    source(page).fill(sentence)
    source(page).press("Enter")
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("src") == [sentence])
    settled(page)


def in_view(page: Page) -> dict:
    """What the page's picture says is chosen."""
    return json.loads(page.locator("[data-attnviz-painted]").first.get_attribute("data-attnviz-view") or "{}")


def focus(page: Page) -> tuple[str, ...]:
    """Kind, layer and head as the page's own controls or picture show them."""
    here = ".st-key-mask-controls" if "/masks" in page.url else "[data-attnviz-view], .st-key-site"
    page.locator(here).first.wait_for()
    picture = page.locator("[data-attnviz-view]")
    if picture.count():
        view = in_view(page)
        return tuple(str(view[name]) for name in ("kind", "layer", "head") if name in view)
    boxes = (page.get_by_role("combobox", name=name, exact=True).input_value() for name in ("Site", "Layer", "Head"))
    kinds = {title.name: kind for kind, title in KINDS.items()}
    return tuple(kinds.get(box, re.sub(r"^[LH](?=\d)", "", box)) for box in boxes)


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


def test_back_undoes_a_page_and_then_a_choice_at_a_time(walked: Page, settled: Callable) -> None:
    count = entries(walked)
    steps = (("heads", "We love you.", "German"), ("heads", "We love you.", "French"), ("heads", SENTENCE, "French"))
    for name, sentence, title in steps:
        walked.go_back()
        expect(walked).to_have_url(re.compile(f"/{name}\\b"))
        expect(source(walked)).to_have_value(sentence)
        expect(language(walked)).to_have_value(title)
        settled(walked)
        expect(walked.locator(".strip")).to_contain_text(sentence.split()[1])
    assert entries(walked) == count


def test_forward_brings_all_back_and_a_reload_shows_the_same(walked: Page, settled: Callable) -> None:
    count, here = entries(walked), walked.url
    for _ in range(3):
        walked.go_back()
    expect(source(walked)).to_have_value(SENTENCE)
    settled(walked)
    for _ in range(3):
        walked.go_forward()  # within milliseconds, across pages, Streamlit's own script adds entries
        settled(walked)
    for _ in range(2):
        expect(walked).to_have_url(here)
        expect(source(walked)).to_have_value("We love you.")
        expect(language(walked)).to_have_value("German")
        settled(walked)
        walked.reload()
        settled(walked)
    assert entries(walked) == count


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
    expect(source(page)).to_have_value(re.compile("^dog"))
    typed(page, settled, SENTENCE)


RECONNECTED = "[data-testid='stApp'][data-test-connection-state='CONNECTED']"
LOST = "[data-testid='stApp']:not([data-test-connection-state='CONNECTED'])"


@pytest.fixture
def restarted(visitor: Callable[..., BrowserContext], settled: Callable, tmp_path: Path) -> Iterator[Page]:
    """A Heads page whose server was killed and started again, while the browser stayed open."""
    port = server.free_port()
    running = server.start(port, tmp_path / "before.log")
    try:
        page = visitor(base_url=f"http://127.0.0.1:{port}").new_page()
        page.goto("/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3")
        settled(page)
        running.kill()
        running.wait()
        page.locator(LOST).wait_for(state="attached")
        running = server.start(port, tmp_path / "after.log")
        page.locator(RECONNECTED).wait_for(state="attached")
        yield page
    finally:
        running.kill()
        running.wait()


def test_the_first_sentence_after_the_server_was_restarted_is_kept(restarted: Page, settled: Callable) -> None:
    start = entries(restarted)
    typed(restarted, settled, SENTENCE)
    expect(source(restarted)).to_have_value(SENTENCE)
    expect(restarted.locator(".strip")).to_contain_text("dog")
    assert entries(restarted) == start + 1
    assert focus(restarted) == ("cross", "1", "3")
    typed(restarted, settled, "We love you.")
    restarted.go_back()
    expect(source(restarted)).to_have_value(SENTENCE)
    to_page(restarted, settled, "Masks")
    expect(source(restarted)).to_have_value(SENTENCE)
    assert focus(restarted) == ("cross", "1", "3")


def test_a_sentence_typed_over_another_in_the_first_second_is_kept(restarted: Page, settled: Callable) -> None:
    source(restarted).fill("We love you.")
    source(restarted).press("Enter")
    restarted.wait_for_timeout(100)
    source(restarted).fill(SENTENCE)
    source(restarted).press("Enter")
    restarted.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("src") == [SENTENCE])
    settled(restarted)
    expect(source(restarted)).to_have_value(SENTENCE)
    expect(restarted.locator(".strip")).to_contain_text("dog")


def test_the_first_choice_after_a_restart_is_kept(restarted: Page, settled: Callable) -> None:
    restarted.get_by_role("radio", name="Links").click()
    expect(restarted).to_have_url(re.compile("tab=links"))
    settled(restarted)
    expect(restarted.get_by_role("radio", name="Links")).to_be_checked()
    assert asked(restarted)["src"] == "I love you."


def test_the_first_head_after_a_restart_is_kept(restarted: Page, settled: Callable) -> None:
    restarted.get_by_role("gridcell", name="L2 H5").click()
    expect(restarted).to_have_url(re.compile("layer=2.*head=5"))
    settled(restarted)
    assert focus(restarted) == ("cross", "2", "5")


def test_a_page_change_after_a_restart_takes_everything_along(restarted: Page, settled: Callable) -> None:
    to_page(restarted, settled, "Anatomy")
    expect(source(restarted)).to_have_value("I love you.")
    assert focus(restarted) == ("cross", "1", "3")
