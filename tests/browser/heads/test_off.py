"""A head is switched off on the Heads page: its mark, the chip, the other pages, Back, and a reload."""

import re

from playwright.sync_api import Locator, Page, expect

LINK = "/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3"


def cell(page: Page, name: str) -> Locator:
    return page.get_by_role("gridcell", name=re.compile(f"^{name}(,|$)"))


def chip(page: Page, words: str) -> Locator:
    return page.get_by_role("button", name=f"{words} ✕")


def test_a_head_goes_off_and_comes_back(page: Page, settle) -> None:
    page.goto(LINK)
    settle(page)
    cell(page, "L1 H3").focus()
    page.keyboard.press("o")
    expect(cell(page, "L1 H3")).to_have_class(re.compile(r"\boff\b"))  # before Python knows
    expect(chip(page, "cross L1 H3 off")).to_be_visible()
    expect(page).to_have_url(re.compile(r"do=off\.cross\.1\.3"))
    settle(page)
    expect(page.get_by_role("button", name="Switch L1 H3 on", exact=True)).to_be_visible()
    expect(page.locator(".legend")).to_contain_text("this head is off: what it reads has no effect")

    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Switch L1 H4 off", exact=True).click()
    expect(chip(page, "cross L1 H3 H4 off")).to_be_visible()
    settle(page)
    page.go_back()  # one step: the second head
    settle(page)
    expect(chip(page, "cross L1 H3 off")).to_be_visible()
    page.reload()
    settle(page)
    expect(cell(page, "L1 H3")).to_have_accessible_name(re.compile("^L1 H3, off"))
    expect(cell(page, "L1 H4")).not_to_have_class(re.compile(r"\boff\b"))

    page.get_by_role("link", name="Decoding").first.click()
    settle(page)
    expect(page.locator(".verdict")).to_contain_text("these changes apply to steps and pass alike: cross L1 H3 off")
    chip(page, "cross L1 H3 off").click()
    settle(page)
    expect(chip(page, "cross L1 H3 off")).to_have_count(0)
    expect(page.locator(".verdict")).not_to_contain_text("these changes apply to steps")
    assert "do=" not in page.url
