"""A narrow screen: the picture comes first, and a line stands for menu and bar, by finger, by keyboard and by ear."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.screens.pages import SRC, overhang
from tests.browser.screens.phone import PHONE, SMALL

PICTURES = ".map-box, .lab-map, .curves-box, .links-body"


@pytest.fixture
def phone(new_tab) -> Page:
    return new_tab(**PHONE)


def open_page(page: Page, settle, address: str) -> Page:
    page.goto(address)
    settle(page)
    expect(page.locator(PICTURES).first).to_be_visible()
    return page


def test_on_a_phone_the_picture_begins_in_the_first_screen_and_fingers_hit_what_they_mean(phone: Page, settle) -> None:
    most = {"heads": 300, "masks": 300, "decoding": 330, "learning": 330}  # a verdict, or a question, comes first
    for name, below in most.items():
        open_page(phone, settle, f"/{name}?{SRC}")
        phone.wait_for_function(
            "([wanted, most]) => [...document.querySelectorAll('[data-picture]')].some((host) => "
            "host.shadowRoot.querySelector(wanted)?.getBoundingClientRect().top <= most)",
            arg=[PICTURES, below],
        )
        assert phone.evaluate(SMALL) == [], name


def test_what_this_is_and_a_first_step_are_in_the_welcomes_first_screen(page: Page, settle) -> None:
    page.goto(f"/?{SRC}")
    settle(page)
    said = page.get_by_text("attnviz runs a Transformer on your sentence")
    first = page.get_by_role("button", name="New here? Lesson 1, 15 minutes")
    for width, height in ((390, 844), (720, 450)):  # a phone, and 1440x900 at 200 %
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("(width) => document.documentElement.scrollWidth <= width", arg=width)
        for shown in (said, first):
            box = shown.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < height - 40  # above the status bar
    first.click()
    page.wait_for_url("**/heads?*lesson=1-what-a-head-looks-at*")
    settle(page)
    expect(page.locator(".st-key-lesson-panel")).to_contain_text("What a head looks at")


def test_the_welcome_is_no_wider_than_a_phone_though_a_sentence_is_one_long_word(phone: Page, settle) -> None:
    phone.goto(f"/?{SRC}&tgt={'lalune' * 30}")
    settle(phone)
    expect(phone.get_by_text("lalunelalune").first).to_be_visible()
    assert overhang(phone) == 0


def test_the_line_opens_the_menu_and_a_page_is_reached_with_its_sentence(phone: Page, settle) -> None:
    open_page(phone, settle, f"/heads?{SRC}")
    pages = phone.get_by_role("button", name="Pages")
    masks = phone.get_by_role("link", name="Masks")
    expect(pages).to_have_attribute("aria-expanded", "false")
    expect(masks).to_be_hidden()
    pages.tap()
    expect(pages).to_have_attribute("aria-expanded", "true")
    expect(masks).to_be_visible()
    masks.tap()
    phone.wait_for_url("**/masks?*src=I+love+you.*")
    settle(phone)
    expect(phone.get_by_role("link", name="Masks")).to_be_hidden()
    expect(phone.get_by_role("button", name="Bar: I love you. → French")).to_be_visible()


def test_the_line_opens_the_bar_and_enter_runs_and_closes_it(new_tab, settle) -> None:
    page = open_page(new_tab(viewport={"width": 640, "height": 450}), settle, f"/heads?{SRC}")  # 1280, at 200 %
    line = page.get_by_role("button", name="Bar: I love you. → French")
    source = page.get_by_label("Source sentence")
    expect(source).to_be_hidden()
    line.focus()
    page.keyboard.press("Enter")
    expect(line).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("combobox").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(source).to_be_hidden()
    expect(line).to_be_focused()
    page.keyboard.press("Enter")
    source.fill("We love you.")
    source.press("Enter")
    expect(source).to_be_hidden()
    expect(page.get_by_role("button", name="Bar: We love you. → French")).to_be_visible()


def test_a_finger_pins_by_a_tap_and_two_zoom(phone: Page, settle) -> None:
    open_page(phone, settle, "/heads?src=The+cat+sat+on+the+mat+and+looked+at+the+dog.&to=fr&kind=encoder_self")
    box = phone.locator(".map-box").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.6
    phone.touchscreen.tap(x, y)
    expect(phone.locator(".bars li").first).to_be_visible()
    expect(phone.get_by_role("button", name="whole map")).to_be_hidden()
    touch = phone.context.new_cdp_session(phone)

    def fingers(kind: str, *points: tuple[float, float]) -> None:
        places = [{"x": at, "y": down, "id": i} for i, (at, down) in enumerate(points)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    fingers("touchStart", (x - 20, y), (x + 20, y))
    for apart in (30, 40, 50, 60):
        fingers("touchMove", (x - apart, y), (x + apart, y))
    fingers("touchEnd")
    expect(phone.get_by_role("button", name="whole map")).to_be_visible()
    expect(phone).to_have_url(re.compile("zoom="))


def test_a_phone_held_sideways_has_the_phones_page(new_tab, settle) -> None:
    sideways = PHONE | {"viewport": {"width": 844, "height": 390}}
    page = open_page(new_tab(**sideways), settle, f"/heads?{SRC}&lesson=1-what-a-head-looks-at&lesson_step=1")
    expect(page.get_by_role("button", name="Pages")).to_be_visible()
    expect(page.get_by_role("link", name="Masks")).to_be_hidden()
    expect(page.get_by_label("Source sentence")).to_be_hidden()
    expect(page.locator(".foot")).to_be_hidden()
    assert page.get_by_test_id("stMain").evaluate("(node) => node.getBoundingClientRect().left") == 0
    page.locator(".lesson-line summary").tap()
    panel = page.locator(":has(> .st-key-lesson-panel)").last
    lower = panel.evaluate("(node) => node.getBoundingClientRect().bottom")
    assert lower <= page.locator(".status-bar").evaluate("(node) => node.getBoundingClientRect().top")
    assert "linear-gradient" in panel.evaluate("(node) => getComputedStyle(node).backgroundImage"), (
        "it looks scrollable"
    )
    page.get_by_role("button", name="Answer", exact=True).scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Answer", exact=True)).to_be_in_viewport(ratio=1)
    open_page(page, settle, f"/masks?{SRC}")
    expect(page.get_by_role("heading", name=re.compile("mask causal"))).to_be_in_viewport()  # just below the tabs


def test_figures_that_scroll_sideways_on_a_phone_fade_at_their_edge_until_their_end(phone: Page, settle) -> None:
    phone.goto(f"/implementations?{SRC}")
    settle(phone)
    row = phone.locator(".st-key-agreement")
    size = "(node) => getComputedStyle(node).maskSize"
    expect(row.locator(".main-svg").first).to_be_visible()
    assert row.evaluate("(node) => node.scrollWidth > node.clientWidth + 200")
    assert row.evaluate(size) == "100% 100%"
    row.evaluate("(node) => node.scrollTo(9999, 0)")
    phone.wait_for_function(
        "() => getComputedStyle(document.querySelector('.st-key-agreement')).maskSize.includes('44px')"
    )
