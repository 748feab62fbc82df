"""The Anatomy page as a visitor has it: a cold link, arrow keys along the lines, light and dark, laptop and phone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from attnviz.text.glossary import definition

SLOW = 20_000  # milliseconds: a machine may be busy with other things
STATUS_BAR = 26  # pixels at the foot of the window
LINK = "/anatomy?src=A+big+red+dog.&to=fr&kind=cross&layer=1&line=6"


def opened(page: Page, settled, link: str = LINK) -> Page:
    page.goto(link)
    settled(page)
    page.locator(".js-plotly-plot, .number-rows, .memory-cells, pre").first.wait_for()
    return page


def current(page: Page):
    return page.locator("[role=option][aria-selected=true]")


def test_a_cold_link_opens_its_line(page: Page, settled) -> None:
    opened(page, settled)
    expect(current(page)).to_contain_text("query.transpose(1, 2)", timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("link", name="Anatomy").first).to_be_visible(timeout=SLOW)


def test_arrow_keys_walk_the_lines_and_the_address_follows(page: Page, settled) -> None:
    opened(page, settled)
    page.get_by_role("listbox", name="Lines of the walk").focus()
    page.keyboard.press("ArrowDown")
    expect(current(page)).to_contain_text("key.view(", timeout=SLOW)
    expect(page).to_have_url(re.compile("line=7"), timeout=SLOW)
    expect(page.get_by_test_id("stCode")).to_contain_text("key.view(", timeout=SLOW)
    page.reload()
    settled(page)
    expect(current(page)).to_contain_text("key.view(", timeout=SLOW)


def test_a_click_opens_a_line_again_after_back(page: Page, settled) -> None:
    opened(page, settled)
    for _ in range(2):
        page.get_by_role("option", name="W_o(context)").click()
        expect(page.get_by_test_id("stCode")).to_contain_text("W_o(context)", timeout=SLOW)
        page.go_back()
        expect(page.get_by_test_id("stCode")).to_contain_text("query.transpose", timeout=SLOW)


def test_the_numbers_of_a_picture_can_be_taken_along(page: Page, settled) -> None:
    opened(page, settled)
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    head, first, *_ = Path(saved.value.path()).read_text("utf-8-sig").splitlines()
    assert head == "batch,heads,q_len,d_k,q_len token,q_len_piece,q_len_id,value"
    assert first.startswith("0,0,0,0,")
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    assert Path(saved.value.path()).read_text("utf-8").startswith("<svg")


def test_sequence_first_is_one_click_away(page: Page, settled) -> None:
    opened(page, settled)
    page.get_by_text("sequence first", exact=True).click()
    expect(page.get_by_role("listbox")).to_contain_text("einsum", timeout=SLOW)
    expect(page).to_have_url(re.compile("layout=sequence_first"), timeout=SLOW)


@pytest.mark.parametrize("name", ["strides", "contig."])
def test_a_columns_title_is_explained_by_the_keyboard_too(page: Page, settled, name: str) -> None:
    opened(page, settled)
    page.locator(".lines .term", has_text=name).focus()
    tip = page.locator(".definitions")
    expect(tip.locator("p")).to_have_text(definition(name))
    expect(tip).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_term_of_the_status_bar_is_explained_under_the_pointer_and_by_the_keyboard(page: Page, settled) -> None:
    opened(page, settled)
    term = page.locator(".status-bar .term", has_text="d_k")
    tip = page.locator(".definitions")
    expect(tip).to_be_hidden()
    term.hover()
    expect(tip).to_be_in_viewport()
    page.mouse.move(700, 300)
    expect(tip).to_be_hidden()
    term.focus()
    expect(tip).to_have_text(definition("d_k"))
    expect(tip).to_be_in_viewport()


def test_a_number_under_the_pointer_goes_when_another_line_is_shown(page: Page, settled) -> None:
    opened(page, settled)
    place = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + 12, place["y"] + 8)
    page.mouse.move(place["x"] + 14, place["y"] + 9)
    hovered = page.locator(".hoverlayer .hovertext")
    expect(hovered).to_have_count(1)
    page.get_by_role("listbox", name="Lines of the walk").focus()
    page.keyboard.press("End")
    expect(page.get_by_test_id("stCode")).to_contain_text("W_o(context)", timeout=SLOW)
    settled(page)
    page.wait_for_function("() => !document.querySelector('.hoverlayer .hovertext')", timeout=SLOW)


def test_a_saved_picture_says_what_it_is_of(page: Page, settled) -> None:
    opened(page, settled)
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    picture = Path(saved.value.path()).read_text("utf-8")
    assert "A big red dog.\u2069 → " in picture
    assert "Cross-attention, L1 H0 · translator" in picture
    for control in ("PNG", "CSV", "Table", "Autoscale"):
        assert control not in picture


@pytest.mark.parametrize("size", [(1280, 720)])
@pytest.mark.parametrize("skip", ["contiguous", "scale"])
def test_a_skipped_line_fills_both_halves_without_scrolling(visitor, settled, size, skip: str) -> None:
    page = visitor(viewport={"width": size[0], "height": size[1]}).new_page()
    opened(page, settled, f"{LINK}&tab=skip&skip={skip}")
    box = page.locator(".lines:not(.number-rows)")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight")
    for part in (page.get_by_role("button", name="PNG"), page.locator(".number-rows.left")):
        expect(part).to_be_visible(timeout=SLOW)
        low = part.bounding_box()
        assert low is not None
        assert low["y"] + low["height"] <= size[1] - STATUS_BAR


def test_a_skipped_line_shows_torchs_error(page: Page, settled) -> None:
    opened(page, settled, f"{LINK}&tab=skip&skip=contiguous")
    expect(page.get_by_text("view size is not compatible").first).to_be_visible(timeout=SLOW)


@pytest.mark.parametrize(("size", "scheme"), [((1280, 720), "dark"), ((390, 844), "light")])
def test_it_fits_the_width_in_both_themes(visitor, settled, scheme: str, size: tuple[int, int]) -> None:
    page = visitor(color_scheme=scheme, viewport={"width": size[0], "height": size[1]}).new_page()
    opened(page, settled)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    if size[0] > 1000:  # the whole walk is in view: every line and its last column, the picture and its buttons
        box = page.locator(".lines:not(.number-rows)")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight")
        for part in (box, page.get_by_role("button", name="PNG")):
            low = part.bounding_box()
            assert low is not None
            assert low["y"] + low["height"] <= size[1] - STATUS_BAR
    paper = page.locator(".js-plotly-plot .main-svg").first.evaluate("node => getComputedStyle(node).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", paper)[:3]) / 3
    assert (brightness > 200) if scheme == "light" else (brightness < 60)
