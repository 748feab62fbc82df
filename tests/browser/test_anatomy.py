"""The Anatomy page as a visitor has it: a cold link, arrow keys along the lines, light and dark, laptop and phone."""

import re

import pytest
from playwright.sync_api import Page, expect

SLOW = 20_000  # milliseconds: a machine may be busy with other things
LINK = "/anatomy?src=A+big+red+dog.&to=fr&kind=cross&layer=1&line=6"


def opened(page: Page, settled, link: str = LINK) -> Page:
    page.goto(link)
    settled(page)
    page.locator(".js-plotly-plot, .code-table, .memory-cells").first.wait_for()
    return page


def current(page: Page):
    return page.locator(".code-table tr.current")


def test_a_cold_link_opens_its_line(page: Page, settled) -> None:
    opened(page, settled)
    expect(current(page)).to_contain_text("query.transpose(1, 2)", timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("link", name="Anatomy").first).to_be_visible(timeout=SLOW)


def test_arrow_keys_walk_the_lines_and_the_address_follows(page: Page, settled) -> None:
    opened(page, settled)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(current(page)).to_contain_text("key.view(", timeout=SLOW)
    expect(page).to_have_url(re.compile("line=7"), timeout=SLOW)
    page.reload()
    settled(page)
    expect(current(page)).to_contain_text("key.view(", timeout=SLOW)


def test_sequence_first_is_one_click_away(page: Page, settled) -> None:
    opened(page, settled)
    page.get_by_text("sequence first", exact=True).click()
    expect(page.locator(".code-table")).to_contain_text("einsum", timeout=SLOW)
    expect(page).to_have_url(re.compile("layout=sequence_first"), timeout=SLOW)


def test_a_skipped_line_shows_torchs_error(page: Page, settled) -> None:
    opened(page, settled, f"{LINK}&part=skip&skip=contiguous")
    expect(page.get_by_text("view size is not compatible").first).to_be_visible(timeout=SLOW)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (390, 844)])
def test_it_fits_the_width_in_both_themes(visitor, settled, scheme: str, size: tuple[int, int]) -> None:
    page = visitor(color_scheme=scheme, viewport={"width": size[0], "height": size[1]}).new_page()
    opened(page, settled)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    paper = page.locator(".js-plotly-plot .main-svg").first.evaluate("node => getComputedStyle(node).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", paper)[:3]) / 3
    assert (brightness > 200) if scheme == "light" else (brightness < 60)
