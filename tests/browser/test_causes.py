"""The Causes page in a browser: heads switched off one by one and together, taken back, compared, and taken along."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

SRC = "src=The+animal+didn%27t+cross+the+street+because+it+was+too+tired."
ROOT = "[data-attnviz-painted]"


def open_causes(page: Page, query: str = SRC) -> None:
    page.goto(f"/causes?{query}")
    page.locator(ROOT).wait_for()


def switch(page: Page, name: str) -> Locator:
    return page.get_by_role("switch", name=re.compile(f"^{name},"))


def heads_off(page: Page) -> Locator:
    return page.locator(".switch[aria-checked=false]")


def written_sentences(page: Page) -> Locator:
    """Read the two written sentences, unchanged and now."""
    return page.locator(".written")


def wait_for_interventions(page: Page, text: str) -> None:
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("do", [""]) == [text])


def test_switches_change_what_is_written_by_click_drag_and_key_until_back(page: Page, settle: Callable) -> None:
    open_causes(page)
    settle(page)
    as_it_is = written_sentences(page).first.inner_text().removeprefix("unchanged").strip()
    expect(written_sentences(page).nth(1)).to_contain_text(as_it_is)
    page.get_by_role("button", name="Every head of Cross L0, off or on").click()
    expect(heads_off(page)).to_have_count(8)  # at once
    wait_for_interventions(page, "off.cross.0.all")
    expect(written_sentences(page).nth(1)).not_to_contain_text(as_it_is)
    expect(page.locator(".written mark").first).to_be_visible()
    expect(page.get_by_role("heading", name="8 of 72 heads off")).to_be_visible()
    settle(page)
    switch(page, "Decoder self L1 H5").click()
    wait_for_interventions(page, "off.dec.1.5~off.cross.0.all")
    settle(page)
    page.go_back()
    wait_for_interventions(page, "off.cross.0.all")
    expect(heads_off(page)).to_have_count(8)
    settle(page)
    page.go_back()
    wait_for_interventions(page, "")
    expect(heads_off(page)).to_have_count(0)
    expect(written_sentences(page).nth(1)).to_contain_text(as_it_is)
    settle(page)
    a_drag_takes_several_and_keys_do_the_rest(page, settle)


def a_drag_takes_several_and_keys_do_the_rest(page: Page, settle: Callable) -> None:
    first, last = (switch(page, f"Cross L2 H{head}").bounding_box() for head in (1, 4))
    assert first is not None
    assert last is not None
    page.mouse.move(first["x"] + 5, first["y"] + 8)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 8, steps=12)
    page.mouse.up()
    wait_for_interventions(page, "off.cross.2.1+2+3+4")
    expect(heads_off(page)).to_have_count(4)
    settle(page)
    page.keyboard.press("i")
    expect(heads_off(page)).to_have_count(68)
    page.keyboard.press("Escape")
    wait_for_interventions(page, "")
    expect(heads_off(page)).to_have_count(0)
    settle(page)
    page.get_by_role("spinbutton", name="How many heads").fill("2")
    page.get_by_role("button", name="most", exact=True).click()
    expect(heads_off(page)).to_have_count(2)
    page.wait_for_url(lambda url: "do=off." in url)
    settle(page)
    switch(page, "Encoder self L0 H0").focus()
    page.keyboard.press("ArrowRight")
    expect(switch(page, "Encoder self L0 H1")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and words")).to_be_visible()


def test_a_head_that_noticed_is_opened_and_taken_along(page: Page, settle: Callable, tmp_path: Path) -> None:
    open_causes(page, "tab=compare&by=do&do=off.enc.0.all&src=I+love+you.")
    settle(page)
    heads = page.get_by_role("option")
    chosen = page.locator(".noticed[aria-selected=true]")
    expect(heads).to_have_count(72)
    expect(chosen).to_have_attribute("data-site", heads.first.get_attribute("data-site") or "")
    heads.nth(3).click()
    site = heads.nth(3).get_attribute("data-site") or ""
    expect(chosen).to_have_attribute("data-site", site)
    kind, layer, head = site.split(".")
    page.wait_for_url(lambda url: all(part in url for part in (f"kind={kind}", f"layer={layer}", f"head={head}")))
    for item, found in (("CSV of the numbers", "apart_bits"), ("SVG picture", "unchanged")):
        page.get_by_text("Export", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=item).click()
        download.value.save_as(tmp_path / "file")
        assert found in (tmp_path / "file").read_text(encoding="utf-8")
