"""A reply in a browser: written row by row, stopped, gone back in, gone on with, and the same again by its link."""

import json
import re
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.models.huggingface.chat import chat_folder as tiny

CHAT = json.dumps([["system", "The cat sat."], ["user", tiny.QUESTION]])
ROOT = ".reply[data-attnviz-painted]"
WRITTEN = ".reply .words .written"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save(tmp_path_factory.mktemp("reply") / "tiny-chat"))


def open_reply(page: Page, settle: Callable[[Page], None], folder: str, **asked: str) -> None:
    sampled = {"choose": "sampled", "temperature": "3.0", "seed": "3"}
    page.goto(f"/decoding?{urlencode({'model': folder, 'chat': CHAT, 'tab': 'reply', **sampled, **asked})}")
    page.locator(ROOT).wait_for()
    settle(page)


def go(page: Page, name: str) -> None:
    page.locator(".st-key-reply-go").get_by_role("button", name=name).click()


def words(page: Page) -> list[str]:
    return page.locator(WRITTEN).all_text_contents()


def wait_for_end(page: Page, settle: Callable[[Page], None]) -> None:
    expect(page.locator(".reply header [role=status]")).not_to_contain_text("being written")
    settle(page)


def test_a_reply_is_stopped_gone_on_with_and_ends(page: Page, settle, folder: str) -> None:
    open_reply(page, settle, folder, limit="250")
    expect(page.locator(".reply .turn[data-role=user] .who")).to_have_text("user")
    go(page, "Write")
    expect(page.locator(WRITTEN).nth(3)).to_be_visible()
    go(page, "Stop")
    wait_for_end(page, settle)
    stopped = words(page)
    assert 3 < len(stopped) < 250
    assert f"written={len(stopped)}" in page.url
    page.locator(".st-key-reply-step button").click()
    expect(page.locator(WRITTEN)).to_have_count(len(stopped) + 1)
    go(page, "Go on")
    wait_for_end(page, settle)
    assert words(page)[: len(stopped)] == stopped
    expect(page.locator(".reply header [role=status]")).to_contain_text(
        re.compile("reached the limit|The model ended the reply")
    )


def test_another_token_is_chosen_and_its_link_gives_the_same_reply(page: Page, settle, folder: str) -> None:
    open_reply(page, settle, folder, limit="20", written="20")
    wait_for_end(page, settle)
    before = words(page)
    page.locator(WRITTEN).nth(4).click()
    other = page.locator(".reply .alternative:not(:disabled)").first
    chosen = other.locator(".candidate").text_content()
    other.click()
    expect(page.locator(".reply .written.taken")).to_have_count(1)
    wait_for_end(page, settle)
    after = words(page)
    assert [word.strip() for word in after[:5]] == [*(word.strip() for word in before[:4]), chosen]
    assert re.search(r"taken=4%3A\d+", page.url)
    page.goto(page.url)
    page.locator(ROOT).wait_for()
    expect(page.locator(WRITTEN)).to_have_count(len(after))
    wait_for_end(page, settle)
    assert words(page) == after


def test_another_head_is_fetched_when_it_is_chosen(page: Page, settle, folder: str) -> None:
    open_reply(page, settle, folder, limit="12", written="12", layer="1", head="2")
    wait_for_end(page, settle)
    looked = page.locator(".reply .alternatives-pane p").last
    expect(looked).to_contain_text("L1 H2")
    said = looked.text_content() or ""
    page.locator(".reply").get_by_role("combobox", name="Head").select_option("4")
    expect(looked).to_contain_text("L1 H4")
    expect(page.locator(".reply canvas.map")).to_have_attribute("aria-label", re.compile("Attention of L1 H4"))
    assert re.search(r"\((.*?)%\)", looked.text_content() or "") != re.search(r"\((.*?)%\)", said)
    assert "head=4" in page.url
