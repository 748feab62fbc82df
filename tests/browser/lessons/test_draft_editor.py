"""From nothing to a lesson: pictures are collected, a text is written beside what is said of it, the draft is tried."""

import json
import re
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from attnviz.lessons.reading import read_file
from tests.browser.screens.phone import PHONE, SMALL
from tests.lessons.front_matter import FRONT_MATTER

HEADS = "/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4"
TEXT = f"""{FRONT_MATTER}## Red

[The picture]({HEADS})

```question
kind: cell
ask: Where is most weight when “rouge” is written?
row: chien
```

## Again

A last word.
"""
EDITOR = ".st-key-draft-text textarea"


def keep(page: Page, settle, draft: object, address: str = "/lessons?edit=1") -> None:
    """Open the editor in a browser that keeps this draft."""
    page.goto("/lessons")
    kept = json.dumps({"revision": 1, "draft": draft})
    page.evaluate("(kept) => (localStorage['attnviz-draft'] = kept)", kept)
    page.goto(address)
    expect(page.locator(EDITOR)).to_have_value(re.compile("## "))
    settle(page)


def put_caret(page: Page, before: str) -> None:
    """Put the caret behind a part of the text."""
    page.locator(EDITOR).focus()
    page.locator(EDITOR).evaluate(
        "(field, part) => { const at = field.value.indexOf(part) + part.length; field.setSelectionRange(at, at); }",
        before,
    )


def test_a_draft_begins_with_a_picture_and_nothing_of_it_is_lost(visitor, settle, tmp_path: Path) -> None:
    context: BrowserContext = visitor()
    page = context.new_page()
    page.goto(f"{HEADS}&specials=hide")
    settle(page)
    page.get_by_role("button", name="Add to lesson").click()
    expect(page.get_by_text("Step 1 of your draft")).to_be_visible()
    page.get_by_role("link", name="Lessons").click()
    page.get_by_role("button", name=re.compile("Go on with your draft")).click()
    settle(page)
    link = f"[The picture]({HEADS}&specials=hide)"
    expect(page.locator(EDITOR)).to_have_value(re.compile(re.escape(link)))  # no option that is as the page opens
    page.locator(EDITOR).fill(TEXT)
    expect(page.get_by_text("Right is Le → chien × dog")).to_be_visible()  # without leaving the field
    put_caret(page, "row: ")
    page.locator(".st-key-draft-offer").get_by_text("chien → rouge").click()
    expect(page.get_by_text("Right is chien → rouge × red (0.99)")).to_be_visible()
    # The sentence may be drawn a moment before the component has stored the draft.
    page.wait_for_function("localStorage['attnviz-draft'].includes('row: rouge')")
    page.reload()
    expect(page.locator(EDITOR)).to_have_value(TEXT.replace("row: chien", "row: rouge"))
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "love.md")
    assert [step.title for step in read_file(tmp_path / "love.md").steps] == ["Red", "Again"]
    page.get_by_role("button", name="Try it").click()
    page.wait_for_url("**/heads*lesson=*")
    panel = page.locator(".st-key-lesson-panel")
    expect(panel.get_by_text("Love · 1 of 2")).to_be_visible()
    panel.get_by_role("button", name="Edit").click()
    expect(page).to_have_url(re.compile("/lessons.*edit=1"))


def test_a_draft_of_the_first_version_opens_on_a_phone(new_tab, settle) -> None:
    page = new_tab(**PHONE, color_scheme="dark")
    asked = {"kind": "choice", "ask": "Does a row see what comes later?", "options": "Yes\nNo", "right": "2"}
    steps = [{"title": "Alpha", "link": "/masks?src=I+love+you.&to=fr", "question": asked}]
    keep(page, settle, {"title": "Rows", "minutes": "10", "audience": "anybody", "language": "en", "steps": steps})
    expect(page.locator(EDITOR)).to_have_value(re.compile("title: Rows\n(.|\n)*## Alpha\n"))
    expect(page.get_by_text("Right is No")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(SMALL) == []


def test_a_lesson_that_is_done_keeps_its_mark_after_a_reload(page: Page, settle) -> None:
    page.goto("/lessons")
    settle(page)
    card = page.locator(".st-key-lesson-card-8-find-the-bug")
    expect(card.get_by_text("Done")).to_have_count(0)
    page.evaluate("localStorage['attnviz-lessons-done'] = JSON.stringify(['8-find-the-bug', 'gone'])")
    page.reload()
    expect(card.get_by_text("Done")).to_be_visible()
    assert page.evaluate("localStorage['attnviz-lessons-done']") == '["8-find-the-bug","gone"]'
