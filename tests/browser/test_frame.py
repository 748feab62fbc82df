"""The frame that every page stands in: nothing that it says is cut off on a laptop."""

import re
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Page, expect

from attnviz.app.markdown import JOINER
from tests.browser import scripts

NAMES = ("attention.example", "192.168.1.27", "localhost.example", "localhost", "127.0.0.1", "[::1]", "0.0.0.0")
CUT = """() => [...document.querySelectorAll(".st-key-top-bar [role=combobox], .st-key-top-bar p"),
  ...document.querySelector("[data-rail]").shadowRoot.querySelectorAll("a")]
  .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.value || node.textContent)"""


def test_no_title_of_the_frame_is_cut(page: Page, settle: Callable) -> None:
    for path in ("/?to=zh", "/decoding?to=fr", "/implementations?to=fr"):
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(path)
        settle(page)
        assert page.get_by_role("combobox", name="To").input_value() in ("Chinese", "French")
        page.get_by_role("link", name="Class", exact=True).wait_for()  # the menu's last
        is_seen_whole(page)
        page.set_viewport_size({"width": 1280, "height": 720})
        is_seen_whole(page)


def is_seen_whole(page: Page) -> None:
    assert page.evaluate(CUT) == []
    field = page.get_by_label("Source sentence").bounding_box()
    assert field is not None
    assert field["width"] > 250, "the titles leave the sentence its room"


def test_a_link_of_the_menu_opens_its_page_as_it_was_left_here_or_in_a_tab_of_its_own(
    fresh_page: Page, settle: Callable
) -> None:
    page = fresh_page
    page.goto("/heads?to=fr&src=I+love+you.")
    settle(page)
    masks = page.get_by_role("link", name="Masks", exact=True)
    with page.context.expect_page() as opened:
        masks.click(modifiers=["ControlOrMeta"])
    opened.value.wait_for_url("**/masks?src=I+love+you.&to=fr")
    opened.value.close()
    page.get_by_role("gridcell", name="L2 H5").click()  # which runs the picture's part of the page alone
    expect(masks).to_have_attribute("href", re.compile(r"masks\?src=I\+love\+you\.&to=fr&.*layer=2&head=5"))
    settle(page)
    entries = page.evaluate("history.length")
    page.get_by_label("Source sentence").fill("We love you.")  # typed, and not yet run
    masks.click()
    page.wait_for_url("**/masks?src=We+love+you.*layer=2&head=5*")
    settle(page)
    expect(masks).to_have_attribute("aria-current", "page")
    assert page.evaluate("history.length") - entries in (1, 2), "a page change is a step, and so is a sentence"
    page.go_back()
    page.wait_for_url("**/heads?*")
    settle(page)


def test_back_brings_back_the_sentences_before(page: Page, settle: Callable) -> None:
    page.goto("/heads?to=fr&src=I+love+you.&tgt=Je+t%27aime.")
    settle(page)
    source, target = page.get_by_label("Source sentence"), page.get_by_label("Target")
    for typed in ("We love you.", "They love you."):
        before = page.url
        source.fill(typed)
        source.press("Enter")
        page.wait_for_url(lambda address, before=before: address != before)
        settle(page)
    for typed, given in (("We love you.", ""), ("I love you.", "Je t'aime.")):
        page.go_back()
        expect(source).to_have_value(typed)
        expect(target).to_have_value(given)
        expect(page.locator(".strip")).to_contain_text(typed.split()[0])
        settle(page)


def test_a_note_shows_what_a_link_says_as_it_is(page: Page, settle: Callable) -> None:
    wrong = {"kind": ":smile: www.a.b x@y.zz https://a.b", "sort": "a -> b &lt;b&gt; *c* :red[d] `e` $f$"}
    page.goto(f"/heads?src=I+love+you.&to=fr&{urlencode(wrong)}")
    settle(page)
    notes = page.get_by_test_id("stAlert")
    expect(notes).to_have_count(len(wrong))
    said = "\n".join(notes.all_inner_texts()).replace(JOINER, "")
    assert all(f"“{text}”" in said for text in wrong.values()), said
    expect(notes.locator("p a, p em, p code, p span")).to_have_count(0)


UNDER_THE_STATUS_BAR = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const bar = document.querySelector(".status-bar").getBoundingClientRect();
  const reached = (node) => (main.scrollTo(0, 0), node.focus(), node.getBoundingClientRect());
  const shown = [...main.querySelectorAll("button")].filter((at) => at.checkVisibility() && reached(at).width > 2);
  return [main.scrollTop > 0, shown.filter((node) => reached(node).bottom > bar.top).map((node) => node.textContent)];
}"""


def test_what_the_tab_key_reaches_stands_above_the_status_bar(page: Page, settle: Callable) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    page.goto("/implementations?src=I+love+you.&to=fr")
    settle(page)
    page.get_by_role("button", name="CSV").first.wait_for()
    settle(page)
    assert page.evaluate(UNDER_THE_STATUS_BAR) == [True, []]


WATCH_THE_LINK = """() => {
  Object.assign(window, { missed: 0, covered: 0 });
  const places = (selector) => [...document.querySelectorAll(selector)].map((node) => node.getBoundingClientRect());
  const link = () => [...document.querySelectorAll(".st-key-copy-link *")]
    .map((node) => node.shadowRoot?.querySelector("button")?.getBoundingClientRect()).find((box) => box?.height > 10);
  setInterval(() => {
    const button = link();
    const marks = places(".st-key-running [data-testid=stSpinner]");
    if (!button) window.missed += 1;
    else if (marks.some(({ bottom }) => bottom > button.top + 1)) window.covered += 1;
  }, 5);
}"""


def test_a_link_can_be_copied_while_something_runs(page: Page, settle: Callable) -> None:
    page.goto("/decoding?src=I+love+you.&to=fr&choose=beam&beam=8&way=recomputed")
    settle(page)
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    page.evaluate(WATCH_THE_LINK)
    before, source = page.url, page.get_by_label("Source sentence")
    source.fill("The animal didn't cross the street because it was too tired. " * 3)
    source.press("Enter")
    page.wait_for_url(lambda address: address != before)
    settle(page)
    assert page.evaluate("[window.missed, window.covered]") == [0, 0]


def test_a_link_that_others_can_open_says_nothing(page: Page) -> None:
    script = scripts.load(page, "app/widgets/copy_link/copy_link.js")
    said = script("(names) => names.map(script.reachOf)", NAMES)
    assert [bool(text) for text in said] == [False, False, False, True, True, True, True]


def test_a_link_that_nobody_else_can_open_says_so_and_the_menu_takes_what_was_just_typed(
    page: Page, address: str, settle: Callable
) -> None:
    """The click comes before the field has reported its text, as a fast hand's does."""
    page.goto("/heads?src=I+love+you.&to=fr")
    settle(page)
    after_skipping_to_the_content_tab_goes_to_the_bar_and_not_to_the_menu(page)
    a_link_that_nobody_else_can_open_says_so(page, address)
    box = page.get_by_role("link", name="Masks").bounding_box()
    assert box is not None
    page.get_by_label("Source sentence").fill("We love you.")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"/masks\?.*src=We\+love\+you"))
    settle(page)
    expect(page).to_have_title("Masks · attnviz")
    expect(page.get_by_label("Source sentence")).to_have_value("We love you.")


def after_skipping_to_the_content_tab_goes_to_the_bar_and_not_to_the_menu(page: Page) -> None:
    expect(page.locator("[data-attnviz-painted]")).to_be_visible()
    page.get_by_test_id("stSkipToContent").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name="Model")).to_be_focused()


def a_link_that_nobody_else_can_open_says_so(page: Page, address: str) -> None:
    said = page.get_by_text("This link works on this computer only")
    expect(said).to_have_count(0)
    page.get_by_role("button", name="Copy link").click()
    expect(said).to_be_visible()
    expect(said).to_contain_text(urlsplit(address).hostname or "")
