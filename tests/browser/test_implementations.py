"""The Implementations page as a visitor has it: the cabinet of bugs, both themes."""

import re

from playwright.sync_api import Page, expect

SLOW = 20_000  # milliseconds: a machine may be busy with other things
LINK = "/implementations?src=I+love+you.&to=fr&kind=decoder_self&layer=1&second=Hello."


def open_implementations(page: Page, settle, more: str = "") -> Page:
    page.goto(LINK + more)
    settle(page)
    page.locator(".js-plotly-plot, .code-table").first.wait_for()
    return page


def test_a_bug_is_opened_from_the_list_and_all_fits_the_width_in_both_themes(page: Page, settle) -> None:
    open_implementations(page, settle, "&tab=bugs&bug=mask_inverted")
    expect(page.get_by_text("right attention: passes · this bug: fails")).to_be_visible(timeout=SLOW)
    page.get_by_role("option", name="Float head size").click()
    expect(page.get_by_text("TypeError").first).to_be_visible(timeout=SLOW)
    expect(page).to_have_url(re.compile("bug=float_head_size"), timeout=SLOW)
    settle(page)
    box = page.locator(".lines:not(.number-rows)")
    for width, height, scheme in ((1280, 720, "dark"), (390, 844, "light")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("(width) => document.documentElement.scrollWidth <= width", arg=width)
        if width > 1000:
            expect(box).to_be_visible()
            assert box.evaluate("box => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight")
