"""Every picture widget by the contract of docs/developing/how-it-works.md, on a page without Streamlit."""

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from playwright.sync_api import Page, expect

from attnviz.hosts.registry import PICTURES
from attnviz.kit.bundle import source
from attnviz.kit.picture import ShownPicture
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.hosts.pictures.every_picture import draw_every
from tests.kit.bare_page import BarePage

pytestmark = [*NEEDS_A_BROWSER, pytest.mark.parametrize("name", PICTURES)]
# What is chosen on what shows numbers: it stays, and does nothing.
READ_ALL_THE_SAME = {
    "patches": {"kind", "layer", "head"},
    "hidden_patches": {"layer", "head", "at", "hidden"},
    "whole_model": {"open"},
    "one_row": {"open"},
    "alignment": {"way"},
}
# What opens something over the picture, lowest first, and a control in that.
OPENERS = {
    "button[data-term=Table]:not(.menu-list *)": ".numbers button[aria-label=Close]",
    "button[aria-label='Keys and words']": ".help button",
    "summary[data-term=Export]": "[role=menuitem] >> visible=true",
}
IS_ON_TOP = """(node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return node.contains(node.getRootNode().elementFromPoint(x + width / 2, y + height / 2));
}"""
AS_HIGH_AS_ITS_CONTENT = ("stepper", "mask_lab")


@pytest.fixture(scope="module")
def every(model, trace) -> dict[str, ShownPicture]:
    return draw_every(model, trace, learning={"guess": "open"})


@pytest.fixture
def bare(empty_page: Page, every, name: str) -> Iterator[BarePage]:
    """Provide the widget of a picture, not yet attached. It may do nothing that a shared server's policy forbids."""
    page = BarePage(empty_page, source(every[name].picture.drawn_by), every[name].payload())
    yield page
    assert page.violations() == []


@pytest.fixture
def choose(bare: BarePage, name: str) -> Callable[[], None]:
    def act() -> None:
        selector, key = PICTURES[name].example_choice
        bare.root.page.locator(f"#place {selector}").first.focus()
        bare.page.keyboard.press(key)

    return act


def test_a_choice_is_told_to_the_host_and_keys_that_are_typed_elsewhere_choose_nothing(
    bare: BarePage, choose, name: str
) -> None:
    bare.attach()
    before = bare.page.evaluate("() => bare.root.dataset.attnvizView")
    for key in [*"abcdgijklmnopqrstuvwxyz0123?+- ", "Enter", "Escape", "ArrowDown", "ArrowRight", "Shift+ArrowDown"]:
        bare.page.keyboard.press(key)
    assert bare.reports() == []
    assert bare.page.locator("#place").get_attribute("data-lm-suppress-shortcuts") == "true"
    choose()
    (told, view) = bare.reports()[-1]
    assert told == ("edit" if name == "mask_lab" else "view")
    assert view["seq"] == 1
    assert view != before


def test_it_takes_the_theme_and_the_height_that_its_host_sets(bare: BarePage, name: str) -> None:
    bare.set_theme("auto")
    bare.attach()
    light = bare.drawing()
    bare.page.emulate_media(color_scheme="dark")
    expect(bare.root).to_have_attribute("data-theme", "dark")
    assert bare.drawing() != light or not light
    bare.set_theme("light")
    expect(bare.root).to_have_attribute("data-theme", "light")
    if name in AS_HIGH_AS_ITS_CONTENT:
        bare.set_height(None)
        assert bare.root.evaluate("(root) => root.style.height") == ""
        return
    for height in (700, 655):
        bare.set_height(height)
        assert bare.height() == height
    bare.set_height(None)
    assert bare.height() in (430, 470, 640), "the least that it can be read at"


def test_controls_that_nobody_answers_are_not_there_and_their_keys_choose_nothing(
    empty_page: Page, every, name: str
) -> None:
    payload = every[name].without_python().payload()
    bare = BarePage(empty_page, source(every[name].picture.drawn_by), payload)
    bare.attach()
    lacks = payload.header["lacks"]
    for control in set(lacks) - READ_ALL_THE_SAME.get(name, set()):
        nodes = bare.root.locator(f"[data-control={control}]")
        assert nodes.count(), control
        assert not any(node.is_visible() for node in nodes.all()), control
    bare.page.locator(f"#place {PICTURES[name].example_choice[0]}").first.evaluate("(node) => node.focus()")
    for key in "abcdgijklmnopqrstuvwxyz0123":
        bare.page.keyboard.press(key)
    for _, told in bare.reports():
        assert {one: told[one] for one in lacks if one in told} == {
            one: payload.header["view"][one] for one in lacks if one in told
        }


def test_once_taken_away_it_hears_nothing_and_attached_again_it_does(bare: BarePage, choose, name: str) -> None:
    bare.set_theme("light")
    bare.attach()
    bare.detach()
    bare.set_theme("dark")
    bare.set_height(701)
    assert bare.root.get_attribute("data-theme") == "light"
    assert bare.height() != 701
    bare.attach()
    expect(bare.root).to_have_attribute("data-theme", "dark")
    bare.set_theme("light")
    expect(bare.root).to_have_attribute("data-theme", "light")
    bare.set_height(702)
    assert name in AS_HIGH_AS_ITS_CONTENT or bare.height() == 702
    choose()
    assert bare.reports()


def test_its_menu_saves_files_of_its_own_through_a_link_in_the_document(bare: BarePage, name: str) -> None:
    """Where a page saves files by itself, as VS Code's does, it listens there."""
    bare.attach()
    bare.root.evaluate("(root) => { root.attnviz.source = () => ({}); }")
    bare.page.locator("#place summary", has_text="Export").click()
    with bare.page.expect_download() as saved:
        bare.page.locator("#place").get_by_role("menuitem", name="Interactive HTML").click()
    assert saved.value.path().read_text(encoding="utf-8").startswith("<!doctype html>")
    bare.page.evaluate("""() => {
      document.addEventListener("click", (event) => {
        if (event.target.download) (globalThis.saved = event.target.download), event.preventDefault();
      });
    }""")
    bare.page.locator("#place summary", has_text="Export").click()
    bare.page.locator("#place").get_by_role("menuitem", name="SVG picture").click()
    assert bare.page.evaluate("() => globalThis.saved").endswith(".svg")
    assert bare.page.locator("a[download]").count() == 0


def test_what_is_opened_lies_over_what_was_open_and_escape_takes_one_away(bare: BarePage, name: str) -> None:
    bare.attach()
    tools = [tool for tool in OPENERS if bare.page.locator(f"#place {tool}").count()]
    table, n_open = bare.page.get_by_role("dialog", name="Numbers"), 0
    for tool in tools:
        opener = bare.page.locator(f"#place {tool}").first
        if not opener.evaluate(IS_ON_TOP):  # the numbers lie over it
            continue
        opener.click()
        opened = bare.page.locator(f"#place {OPENERS[tool]}").first
        expect(opened).to_be_visible()
        assert opened.evaluate(IS_ON_TOP), tool
        n_open += 1
    if any("Table" in tool for tool in tools):
        for _ in range(n_open):
            expect(table).to_be_visible()
            bare.page.keyboard.press("Escape")
        expect(table).to_be_hidden()


def test_what_it_says_at_the_pointer_is_in_the_top_layer(bare: BarePage, name: str) -> None:
    bare.attach()
    shown = bare.page.locator("#place :popover-open")
    expect(shown).to_have_count(0)
    point = PICTURES[name].example_point
    box = bare.page.locator(f"#place {point or '[data-term]'} >> visible=true").first.bounding_box()
    assert box
    x, y = 0.0, 0.0
    for down, right in ((20, 20), *product(range(1, 40), repeat=2)):
        x, y = box["x"] + right / 40 * box["width"], box["y"] + down / 40 * box["height"]
        bare.page.mouse.move(x, y)
        if not point or shown.count():
            break
    expect(shown).to_be_visible()
    note = shown.bounding_box()
    assert note
    away = (max(note["x"] - x, 0, x - note["x"] - note["width"]), max(note["y"] - y, 0, y - note["y"] - note["height"]))
    assert max(away) < 40, "beside the pointer"


def test_a_menu_is_whole_where_its_place_is_cut_off(bare: BarePage, name: str) -> None:
    bare.attach()
    bare.cut_off(300)
    for button in bare.page.locator("#place .menu > summary >> visible=true").all():
        button.focus()
        bare.page.keyboard.press("Enter")
        shown = bare.page.locator("#place .menu-list:popover-open")
        expect(shown).to_be_visible()
        items = shown.locator("button, select").locator("visible=true").all()
        assert items
        for item in items:
            item.evaluate("(node) => node.scrollIntoView({ block: 'nearest' })")
            assert item.evaluate("""(node) => {
              const { left, top, width, height } = node.getBoundingClientRect();
              const there = node.getRootNode().elementFromPoint(left + width / 2, top + height / 2);
              return node === there || node.contains(there);
            }"""), item.text_content()
        bare.page.keyboard.press("Tab")
        assert items[0].evaluate("(node) => node.matches(':focus')")
        bare.page.keyboard.press("Escape")
        expect(shown).to_have_count(0)
        assert button.evaluate("(node) => node.matches(':focus')")
