"""The Implementations page as a visitor has it: agreement, sources, the cabinet, measuring on demand, both themes."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

SLOW = 20_000  # milliseconds: a machine may be busy with other things
LINK = "/implementations?src=I+love+you.&to=fr&kind=decoder_self&layer=1&second=Hello."


def opened(page: Page, settled, more: str = "") -> Page:
    page.goto(LINK + more)
    settled(page)
    page.locator(".js-plotly-plot, .code-table").first.wait_for()
    return page


def test_a_cold_link_shows_that_all_agree(page: Page, settled) -> None:
    opened(page, settled)
    expect(page.get_by_text(re.compile("The largest difference is"))).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("link", name="Implementations").first).to_be_visible(timeout=SLOW)


def test_two_sources_stand_side_by_side(page: Page, settled) -> None:
    opened(page, settled, "&tab=source&one=per_head&other=sequence_first")
    expect(page.locator(".diff")).to_contain_text("class PerHeadAttention", timeout=SLOW)
    expect(page.locator(".diff")).to_contain_text("def get_scores", timeout=SLOW)
    assert page.locator(".diff td.differs").count() > 10


def test_a_bug_is_opened_from_the_list_and_kept_in_the_address(page: Page, settled) -> None:
    opened(page, settled, "&tab=bugs&bug=mask_inverted")
    expect(page.get_by_text("right attention: passes · this bug: fails")).to_be_visible(timeout=SLOW)
    page.get_by_role("option", name="Float head size").click()
    expect(page.get_by_text("TypeError").first).to_be_visible(timeout=SLOW)
    expect(page).to_have_url(re.compile("bug=float_head_size"), timeout=SLOW)


def test_two_real_visitors_read_each_others_maps(page: Page, settled) -> None:
    opened(page, settled, "&tab=bugs&bug=kept_map")
    expect(page.get_by_text(re.compile(r"[1-9]\d* of 40 maps were the other visitor"))).to_be_visible(timeout=SLOW)


@pytest.mark.parametrize(("size", "scheme"), [((1280, 720), "dark"), ((390, 844), "light")])
def test_it_fits_the_width_in_both_themes(visitor, settled, scheme: str, size: tuple[int, int]) -> None:
    page = visitor(color_scheme=scheme, viewport={"width": size[0], "height": size[1]}).new_page()
    opened(page, settled, "&tab=bugs")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    if size[0] > 1000:
        box = page.locator(".lines:not(.number-rows)")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight")


def test_time_and_memory_are_measured_up_to_1024_tokens(page: Page, settled) -> None:
    page.goto(LINK + "&tab=cost")
    settled(page)
    page.get_by_role("button", name="Measure at 16 to 1,024 tokens").click()
    expect(page.get_by_text(re.compile(r", \d+ tokens"))).to_be_visible(timeout=SLOW)  # how far it is
    expect(page.get_by_text("Measured up to 128 tokens so far")).to_have_count(0, timeout=6 * SLOW)
    settled(page)
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=6 * SLOW)
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    lines = Path(saved.value.path()).read_text("utf-8-sig").splitlines()
    assert lines[0] == "way,length,seconds,nbytes"
    assert len(lines) == 1 + 7 * 7, "seven ways at seven lengths"
    assert all(float(number) > 0 for line in lines[1:] for number in line.split(",")[-2:])
