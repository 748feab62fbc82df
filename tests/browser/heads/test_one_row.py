"""The One row tab in a browser: another row by key, a head by a click, and the way back."""

import csv
import re

import pytest
from playwright.sync_api import Page, expect

LINK = "/heads?src=I+love+you.&to=fr&kind=cross&tab=row&row=1&do=off.cross.1.3"


def test_a_row_is_looked_at_in_every_head_and_a_strip_opens_its_head(page: Page, settle) -> None:
    page.goto(LINK)
    settle(page)
    strip = page.get_by_role("gridcell", name=re.compile("^L1 H3, off, most on"))
    strip.focus()
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name=re.compile("row 2: "))).to_be_visible()
    expect(page).to_have_url(re.compile("row=2"))
    settle(page)
    expect(strip).to_be_focused()  # and the next key goes on from there
    with page.expect_download() as saved:
        page.get_by_text("Export").click()
        page.get_by_text("CSV of the numbers").click()
    with saved.value.path().open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    chosen = [line for line in lines if (line["layer"], line["head"], line["row"]) == ("1", "3", "2")]
    assert sum(float(line["weight"]) for line in chosen) == pytest.approx(1, abs=1e-5)
    assert {line["off"] for line in chosen} == {"true"}
    strip.click()
    settle(page)
    expect(page.get_by_role("heading", name="Cross-attention, L1 H3")).to_be_visible()
    page.go_back()
    settle(page)
    expect(strip).to_be_visible()
