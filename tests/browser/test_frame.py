"""The frame that every page stands in: nothing that it says is cut off on a laptop."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from attnviz.ui.markdown import JOINER

CUT = """() => [...document.querySelectorAll(
    ".st-key-top-bar [role=combobox], .st-key-top-bar p, [data-testid=stSidebar] p")]
  .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.value || node.textContent)"""


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720)])
def test_no_title_of_the_frame_is_cut(visitor: Callable[..., BrowserContext], settled: Callable, size) -> None:
    page = visitor(viewport={"width": size[0], "height": size[1]}).new_page()
    for path in ("/?to=zh", "/decoding?to=fr", "/implementations?to=fr"):
        page.goto(path)
        settled(page)
        assert page.get_by_role("combobox", name="To").input_value() in ("Chinese", "French")
        assert page.evaluate(CUT) == []
        field = page.get_by_label("Source sentence").bounding_box()
        assert field is not None
        assert field["width"] > 250, "the titles leave the sentence its room"


def test_back_brings_back_the_sentences_before(page: Page, settled: Callable) -> None:
    page.goto("/heads?to=fr&src=I+love+you.&tgt=Je+t%27aime.")
    settled(page)
    source, target = page.get_by_label("Source sentence"), page.get_by_label("Target")
    for typed in ("We love you.", "They love you."):
        before = page.url
        source.fill(typed)
        source.press("Enter")
        page.wait_for_url(lambda address, before=before: address != before)
        settled(page)
    for typed, given in (("We love you.", ""), ("I love you.", "Je t'aime.")):
        page.go_back()
        expect(source).to_have_value(typed)
        expect(target).to_have_value(given)
        expect(page.locator(".strip")).to_contain_text(typed.split()[0])
        settled(page)


def test_a_note_shows_what_a_link_says_as_it_is(page: Page, settled: Callable) -> None:
    wrong = {"kind": ":smile: www.a.b x@y.zz https://a.b", "sort": "a -> b &lt;b&gt; *c* :red[d] `e` $f$"}
    page.goto(f"/heads?src=I+love+you.&to=fr&{urlencode(wrong)}")
    settled(page)
    notes = page.get_by_test_id("stAlert")
    expect(notes).to_have_count(len(wrong))
    said = "\n".join(notes.all_inner_texts()).replace(JOINER, "")
    assert all(f"“{text}”" in said for text in wrong.values()), said
    expect(notes.locator("p a, p em, p code, p span")).to_have_count(0)
