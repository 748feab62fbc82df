"""Many sentences in a browser: a pasted list is gone over, a mark chooses a head, a sentence opens in Heads."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

STRANGE = "**bold** :red[x] <b>you</b>"
LINES = f"I love you.\tJe t'aime.\n{STRANGE}\nThe cat sleeps."


def test_a_list_is_gone_over_and_a_click_on_a_mark_chooses_its_head(page: Page, settle: Callable) -> None:
    page.goto("/causes?src=I+love+you.&to=fr&tab=sentences&sentences=own&kind=cross&layer=1&head=6")
    settle(page)
    page.locator("textarea").fill(LINES)
    page.locator("textarea").press("Control+Enter")
    page.get_by_role("button", name="Measure on 3 sentences").click()
    heading = page.get_by_role("heading", level=3)
    expect(heading).to_have_text("Cross L1 H6 over 3 sentences")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    settle(page)
    expect(page.get_by_role("link", name=STRANGE).first).to_be_visible()  # as it was typed
    mark = page.locator(".st-key-corpus-scatter .points").first.locator("path").nth(3)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(heading).to_have_text(re.compile(r"Encoder self L\d H\d over 3 sentences"))
    page.wait_for_url(re.compile(r"kind=encoder_self"))
    settle(page)
    page.go_back()
    expect(heading).to_have_text("Cross L1 H6 over 3 sentences")
    settle(page)
    page.get_by_role("link", name=re.compile("I love you")).first.click()
    page.wait_for_url(re.compile(r"/heads\?.*row=\d"))
    settle(page)
    expect(page.get_by_label("Target (empty: the model translates)")).to_have_value("Je t'aime.")


def test_a_ready_experiment_is_set_up_told_and_closed(page: Page, settle: Callable) -> None:
    page.goto("/causes?src=Hello.&to=de")
    settle(page)
    page.get_by_role("button", name="Ready experiments").click()
    page.get_by_role("menuitem", name="Tom and Mary swapped").click()
    panel = page.locator(".st-key-ready-experiment-panel")
    expect(panel).to_contain_text("“Tom aime Mary.” becomes “Mary aime Tom.”")
    page.wait_for_url(re.compile(r"do=swap.*experiment=names-exchanged|experiment=names-exchanged.*do=swap"))
    settle(page)
    expect(page.get_by_label("Source sentence")).to_have_value("Tom loves Mary.")
    panel.locator("summary").click()
    panel.get_by_role("button", name="Count again").click()
    expect(panel).to_contain_text("with 20 verbs: 19 come out the other way round")
    expect(panel).to_contain_text("counted just now")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
