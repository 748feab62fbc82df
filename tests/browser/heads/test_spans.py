"""Spans as a visitor has them: dragged, named and removed, an answer chosen, and each span hidden from it."""

import json
import re
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz.models import catalogue
from attnviz.spans.numbers.hidden import hide_spans
from attnviz.spans.numbers.shares import span_shares
from attnviz.text.tokens import Span
from tests.browser.heads.tabs import chosen_view, open_tab

TARGET = "Je t'aime beaucoup, mon ami."
LINK = f"/heads?src=I+love+you+very+much,+my+friend.&to=fr&tgt={TARGET}&tab=spans&layer=1&head=0"


def token(picture: Locator, at: int) -> Locator:
    return picture.locator(f".span-token[data-at='{at}']")


def drag(page: Page, picture: Locator, start: int, last: int) -> None:
    for at, act in ((start, page.mouse.down), (last, page.mouse.up)):
        box = token(picture, at).bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        act()


def in_address(page: Page, name: str) -> str:
    return parse_qs(urlparse(page.url).query).get(name, [""])[0]


@pytest.fixture
def picture(page: Page, settle) -> Locator:
    return open_tab(page, settle, LINK)


def test_dragging_over_tokens_makes_a_span_that_can_be_named_and_removed(page: Page, settle, picture) -> None:
    expect(picture.locator(".band-name")).to_have_text(["text"])
    drag(page, picture, 2, 3)
    expect(picture.locator(".band-name")).to_have_text(["text", "span 1", "text (2)"])
    expect(page).to_have_url(re.compile("spans=[^&]*span%25201%3D2-4"))
    settle(page)
    name = picture.get_by_role("textbox", name="Name of the span")
    expect(name).to_be_focused()
    name.fill("to love; =")
    page.keyboard.press("Enter")
    expect(picture.locator(".band-name").nth(1)).to_have_text("to love; =")
    expect(page).to_have_url(re.compile("to%2520love%253B%2520%253D%3D2-4"))
    settle(page)
    expect(picture.get_by_role("combobox", name="Spans by")).to_have_value("")
    picture.get_by_role("button", name="to love; =").click()
    picture.get_by_role("button", name="Remove").click()
    expect(picture.locator(".band-name")).to_have_text(["text", "text (2)"])
    expect(page).not_to_have_url(re.compile("to%2520love"))
    settle(page)
    page.go_back()
    expect(picture.locator(".band-name").nth(1)).to_have_text("to love; =")


def test_by_keyboard_a_span_is_made_and_taken_as_the_answer(page: Page, settle, picture) -> None:
    picture.locator(".span-token[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("span%25201%3D2-5"))
    settle(page)
    picture.get_by_role("button", name="Take as the answer").click()
    expect(page).to_have_url(re.compile("answer=2-5"))
    settle(page)
    expect(picture.locator(".side h2").first).to_have_text("Share of the answer, rows 1 to 3")
    token(picture, 3).focus()
    page.keyboard.press("Delete")
    expect(picture.locator(".band-name")).to_have_count(2)


def test_a_finger_taps_a_spans_first_token_and_its_last(new_tab, settle) -> None:
    page = new_tab(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    picture = open_tab(page, settle, LINK)
    token(picture, 3).tap()
    expect(picture.locator(".editor")).to_contain_text("Click the span’s last token")
    token(picture, 2).tap()
    expect(page).to_have_url(re.compile("span%25201%3D2-4"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_shares_are_the_analysiss_and_a_token_of_the_answer_can_be_looked_at(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&spans=one=1-3;two=3-5&answer=5-8")
    trace = catalogue.translator().trace("I love you very much, my friend.", to="fr", tgt_text=TARGET)
    shares = span_shares(trace, [Span("one", 1, 3), Span("two", 3, 5)]).shares[1, 0]
    rows = picture.locator("tr[data-share]")
    assert shown(rows) == pytest.approx(shares[4:7].mean(dim=0).tolist(), abs=1e-5)
    picture.locator(".bars-pane .scrolls").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert chosen_view(picture)["focus"] == 6
    assert shown(rows) == pytest.approx(shares[5].tolist(), abs=1e-5)
    picture.get_by_role("button", name="Table").click()
    table = picture.get_by_role("dialog", name="Numbers")
    table.get_by_role("button", name="two").click()
    expect(table.get_by_role("columnheader", name="two")).to_have_attribute("aria-sort", "ascending")
    expect(table.locator("tbody tr")).to_have_count(len(trace.attn("decoder_self").flatten(0, 1)))


def shown(rows: Locator) -> list[float]:
    return rows.evaluate_all("(nodes) => nodes.map(({ dataset }) => Number(dataset.share))")


def test_each_span_is_hidden_when_that_is_asked_for(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&spans=one=1-3;two=3-5&answer=5-8")
    expect(picture.locator("[data-hidden-span]")).to_have_count(0)
    picture.get_by_role("button", name="From the answer").click()
    expect(picture.locator("[data-hidden-span]")).to_have_count(2)
    model = catalogue.translator()
    trace = model.trace("I love you very much, my friend.", to="fr", tgt_text=TARGET)
    table = hide_spans(model, trace, Span("answer", 5, 8), [Span("one", 1, 3), Span("two", 3, 5)])
    told = picture.locator("[data-hidden-span]").evaluate_all(
        "(nodes) => nodes.map(({ dataset }) => Number(dataset.difference))"
    )
    assert told == pytest.approx(table["difference"].tolist(), abs=1e-3)
    assert in_address(page, "hidden") == "answer"
    assert json.loads(picture.get_attribute("data-attnviz-view") or "")["hidden"] == "answer"
