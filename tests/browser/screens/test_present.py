"""Present: the picture alone, large enough for the last row; by a key, by a button, and by the address."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.screens.pages import SRC, press_p

HEADS = f"/heads?{SRC}&kind=cross&layer=1&head=3"
LEAVE = "Leave the presentation (Esc)"
# How large letters come out on the screen that a canvas is given, once it is magnified: as the window has them.
LETTERS = """() => {
  window.letters = [];
  const fillText = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
    const { a, b } = this.getTransform();
    const size = parseFloat(this.font.match(/([\\d.]+)px/)[1]);
    const isMagnified = document.documentElement.style.getPropertyValue("--magnified") !== "";
    if (isMagnified && text.trim()) window.letters.push([text, (size * Math.hypot(a, b)) / devicePixelRatio]);
    fillText.call(this, text, ...more);
  };
}"""
SEEN = """() => [...document.querySelectorAll(".st-key-top-bar input, .status-bar"),
  ...(document.querySelector("[data-rail]")?.shadowRoot.querySelectorAll("a") ?? [])]
  .filter((node) => node.checkVisibility({ visibilityProperty: true })).length"""

# The chart, as wide as the window less its margins; and how large its names are drawn there.
CHART = "document.querySelector('.js-plotly-plot .main-svg')"
CHART_RIGHT = f"{CHART}?.getBoundingClientRect().right"  # there may be none while it is drawn again
CHART_FILLS = f"() => {CHART_RIGHT} > 1700 && {CHART_RIGHT} <= 1920"
TICK = f"""() => parseFloat(getComputedStyle(document.querySelector(".js-plotly-plot .ytick text")).fontSize)
  * {CHART}.getBoundingClientRect().width / {CHART}.width.baseVal.value"""


def wait_until_presented(page: Page) -> None:
    expect(page.locator("[data-presented] [lang=und], [data-present=page] body").first).to_be_visible()


@pytest.fixture
def projector(new_tab) -> Page:
    return new_tab(viewport={"width": 1920, "height": 1080})


def test_the_key_shows_the_picture_alone_and_arrows_walk_and_escape_leaves(projector: Page, settle) -> None:
    page = projector
    page.goto(HEADS)
    settle(page)
    expect(page.locator(".focus")).to_contain_text("Cross-attention, L1 H3")
    page.wait_for_function(f"({SEEN})() > 5")
    typing_a_p_is_typing(page)
    press_p(page)
    wait_until_presented(page)
    expect(page).to_have_url(re.compile("present=1"))
    assert page.evaluate(SEEN) == 0
    box = page.locator(".map-box").bounding_box()
    assert box is not None
    assert box["width"] > 1800
    assert box["height"] > 800
    the_pointer_says_the_cell_that_it_is_on(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".focus h2")).not_to_have_text("Cross-attention, L1 H3")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Source sentence")).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))
    page.wait_for_function(f"({SEEN})() > 5")


def test_names_are_24_pixels_on_a_projector(projector: Page, settle) -> None:
    page = projector
    for name in ("heads", "masks", "decoding"):
        page.goto(f"/{name}?{SRC}")
        settle(page)
        expect(page.locator(".map-box, .lab-map")).to_be_visible()
        page.evaluate(LETTERS)
        press_p(page)
        wait_until_presented(page)
        page.wait_for_function("() => window.letters.some(([text]) => text.includes('love') || text.includes('aime'))")
        small = [(text, size) for text, size in page.evaluate("window.letters") if size < 24]
        assert small == [], name


def the_pointer_says_the_cell_that_it_is_on(page: Page) -> None:
    box = page.locator(".map-box").bounding_box()
    assert box is not None
    said = set()
    for share in (0.35, 0.45, 0.55, 0.65):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * 0.5)
        tip = page.locator(".map-box .tip")
        expect(tip).to_be_visible()
        said.add(tip.inner_text())
        edge = tip.bounding_box()
        assert edge is not None
        assert edge["x"] + edge["width"] <= 1920
    assert len(said) > 2, "each cell has its own"


def test_a_link_says_it_and_the_code_for_a_frame_too(visitor, address: str, settle) -> None:
    context: BrowserContext = visitor()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(HEADS)
    settle(page)
    page.get_by_role("button", name="Embed").click()
    expect(page.get_by_text("setting embedders")).to_contain_text("a class with a password cannot be embedded")
    code = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(
        r'<iframe src="http://[^"]*/heads\?[^"]*&amp;present=1" title="Heads · attnviz" .*</iframe>', code
    )
    page.get_by_role("button", name="Present").click()
    wait_until_presented(page)
    link = page.get_by_role("button", name="Copy link")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copied")).to_have_count(1)
    assert page.evaluate("navigator.clipboard.readText()").endswith("&present=1")
    other = context.new_page()
    other.set_content(code)
    frame = other.frame_locator("iframe")
    expect(frame.locator("[data-presented] .focus")).to_contain_text("Cross-attention, L1 H3")


def test_back_leaves_and_a_page_without_a_widget_is_shown_without_its_frame(projector: Page, settle) -> None:
    page = projector
    page.goto(f"/implementations?{SRC}")
    settle(page)
    expect(page.locator(".js-plotly-plot .heatmaplayer").first).to_be_visible()
    press_p(page)
    expect(page).to_have_url(re.compile("present=1"))
    assert page.evaluate(SEEN) == 0
    page.wait_for_function(CHART_FILLS)
    assert page.evaluate(TICK) >= 24
    page.go_back()
    expect(page.get_by_label("Source sentence")).to_be_visible()
    press_p(page)
    page.get_by_role("button", name=LEAVE).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Source sentence")).to_be_visible()


def typing_a_p_is_typing(page: Page) -> None:
    source = page.get_by_label("Source sentence")
    before = source.input_value()
    source.press("End")
    page.keyboard.type("pop")
    expect(source).to_have_value(f"{before}pop")
    expect(source).to_be_visible()
    for _ in "pop":
        page.keyboard.press("Backspace")
    page.locator(".focus h2").click()
    expect(source).not_to_be_focused()


def test_the_kind_whose_head_is_off_comes_first_where_causes_is_presented(page: Page, settle) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"/causes?{SRC}&do=off.cross.2.0&present=1")
    group = page.locator(".kind-group.changed-group")
    expect(group).to_have_accessible_name("Cross")
    tops = page.locator(".kind-group").evaluate_all("(nodes) => nodes.map((one) => one.getBoundingClientRect().top)")
    assert group.evaluate("(node) => node.getBoundingClientRect().top") == min(tops)
