"""The Anatomy page as a visitor has it: a cold link, arrow keys along the lines, light and dark, laptop and phone."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SLOW = 20_000  # milliseconds: a machine may be busy with other things
STATUS_BAR = 26  # pixels at the foot of the window
LINK = "/anatomy?src=A+big+red+dog.&to=fr&kind=cross&layer=1&line=6"


def open_anatomy(page: Page, settle, link: str = LINK) -> Page:
    page.goto(link)
    settle(page)
    page.locator(".js-plotly-plot, .number-rows, .memory-cells, pre").first.wait_for()
    return page


def current(page: Page):
    return page.locator("[role=option][aria-selected=true]")


def test_a_cold_link_opens_its_line_to_take_along_and_to_walk_on_from(page: Page, settle) -> None:
    open_anatomy(page, settle)
    expect(current(page)).to_contain_text("query.transpose(1, 2)", timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=SLOW)
    head, first, *_ = save_download(page, "CSV").removeprefix("\ufeff").splitlines()
    assert head == "batch,heads,q_len,d_k,q_len token,q_len_piece,q_len_id,value"
    assert first.startswith("0,0,0,0,")
    picture = save_download(page, "SVG")
    assert picture.startswith("<svg")
    assert "A big red dog.\u2069 → " in picture
    assert "Cross-attention, L1 H0 · translator" in picture
    for control in ("PNG", "CSV", "Table", "Autoscale"):
        assert control not in picture
    arrow_keys_walk_the_lines_and_the_address_follows(page, settle)
    settle(page)
    a_number_under_the_pointer_goes_when_another_line_is_shown(page, settle)


def save_download(page: Page, name: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return Path(download.value.path()).read_text("utf-8")


def arrow_keys_walk_the_lines_and_the_address_follows(page: Page, settle) -> None:
    page.get_by_role("listbox", name="Lines of the walk").focus()
    page.keyboard.press("ArrowDown")
    expect(current(page)).to_contain_text("key.view(", timeout=SLOW)
    expect(page).to_have_url(re.compile("line=7"), timeout=SLOW)
    expect(page.get_by_test_id("stCode")).to_contain_text("key.view(", timeout=SLOW)
    page.reload()
    settle(page)
    expect(current(page)).to_contain_text("key.view(", timeout=SLOW)
    a_click_opens_a_line_again_after_back(page)


def a_click_opens_a_line_again_after_back(page: Page) -> None:
    for _ in range(2):
        page.get_by_role("option", name="W_o(context)").click()
        expect(page.get_by_test_id("stCode")).to_contain_text("W_o(context)", timeout=SLOW)
        page.go_back()
        expect(page.get_by_test_id("stCode")).to_contain_text("key.view(", timeout=SLOW)


def a_number_under_the_pointer_goes_when_another_line_is_shown(page: Page, settle) -> None:
    place = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + 12, place["y"] + 8)
    page.mouse.move(place["x"] + 14, place["y"] + 9)
    hovered = page.locator(".hoverlayer .hovertext")
    expect(hovered).to_have_count(1)
    page.get_by_role("listbox", name="Lines of the walk").focus()
    page.keyboard.press("End")
    expect(page.get_by_test_id("stCode")).to_contain_text("W_o(context)", timeout=SLOW)
    settle(page)
    page.wait_for_function("() => !document.querySelector('.hoverlayer .hovertext')", timeout=SLOW)


def fits(page: Page, last: Locator, height: int) -> None:
    """Check that every line and the picture's buttons are in view without scrolling, down to the element `last`."""
    lines = page.locator(".lines:not(.number-rows)")
    assert lines.evaluate("box => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight")
    for part in (page.get_by_role("button", name="PNG"), last):
        expect(part).to_be_visible(timeout=SLOW)
        low = part.bounding_box()
        assert low is not None
        assert low["y"] + low["height"] <= height - STATUS_BAR


def test_a_skipped_line_fills_both_halves_without_scrolling(page: Page, settle) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_anatomy(page, settle, f"{LINK}&tab=skip&skip=scale")
    fits(page, page.locator(".number-rows.left"), 720)


def test_it_fits_the_width_in_both_themes(page: Page, settle) -> None:
    for (width, height), scheme, least, most in (((1280, 720), "dark", 0, 60), ((390, 844), "light", 200, 255)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        open_anatomy(page, settle)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width > 1000:  # the whole walk is in view: every line and its last column, the picture and its buttons
            fits(page, page.locator(".lines:not(.number-rows)"), height)
        paper = page.locator(".js-plotly-plot .main-svg").first
        colour = paper.evaluate("node => getComputedStyle(node).backgroundColor")
        assert least <= sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3 <= most
