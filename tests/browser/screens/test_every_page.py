"""Every page and tab, in one visit: axe-core finds nothing serious in either theme, no width scrolls sideways, and the
console says nothing.

`make test` looks at each page once, in one theme, by turns, and at a phone's width; `make walk` at each tab, in both
themes and at all widths. So it is with what opens over a page: `make test` opens what the frame has, on one page,
`make walk` the rest, too.
"""

import json
import os

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Locator, Page, expect

from tests.browser.screens.pages import DRAFT, SRC, addresses, overhang, pages
from tests.browser.walk.report import is_news

IS_LONG = bool(os.environ.get("ATTNVIZ_WALK_STEPS"))
WIDTHS = (360, 820, 2560, 1440) if IS_LONG else (390,)
SERIOUS = ("serious", "critical")
WHOLE = {"resultTypes": ["violations"]}
COLOURS = WHOLE | {"runOnly": ["color-contrast"]}  # what another theme changes
AXE = "(rules) => axe.run(document, rules).then(({ violations }) => violations)"
THEMES = {"light": "rgb(251, 251, 253)", "dark": "rgb(15, 18, 24)"}
IN_THEME = "(colour) => getComputedStyle(document.querySelector('.stApp')).backgroundColor === colour"
# Nothing is still to come, goes, or is drawn in the colours of before, and that for a while.
STILL = """(theme) => {
  const passes = ({ playState, effect }) => playState === "running" && effect.getComputedTiming().endTime < Infinity;
  const isStill =
    document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" &&
    !document.querySelector("[data-testid=stSkeleton], [data-stale=true]") &&
    ![...document.querySelectorAll("[data-picture]")].some(({ shadowRoot }) =>
      shadowRoot?.querySelector(`[data-theme]:not([data-theme=${theme}])`)) &&
    !document.getAnimations().some(passes);
  window.stillSince = isStill ? (window.stillSince ?? performance.now()) : undefined;
  return isStill && performance.now() - window.stillSince > 300;
}"""
OVER = "[role=menu], [role=dialog], [data-testid=stDialog], [data-testid=stPopoverBody]"
# What opens over a page, by the button that opens it.
OF_THE_FRAME = ((f"/heads?{SRC}", ("Examples", "Model drawing", "Ask the room")),)
OF_PAGES = (
    (f"/heads?{SRC}", ("About this model", "Your own tensors", "? help")),
    (f"/masks?{SRC}", ("? keys",)),
    (f"/causes?{SRC}", ("Ready experiments",)),
    (f"/anatomy?{SRC}", ("Words",)),
    ("/lessons", ("Open a lesson's file",)),
    ("/learning", ("Experiments",)),
)
KEEP = f"localStorage['attnviz-draft'] ??= {json.dumps(json.dumps(DRAFT))}"


@pytest.fixture
def page(fresh_page: Page) -> Page:
    """Open a page with axe-core in each of its documents."""
    fresh_page.add_init_script(path=AXE_FILE_PATH)
    return fresh_page


def faults(page: Page, theme: str, rules: dict) -> list[str]:
    """Return what axe-core finds serious in a theme: the rule, the place, and the fault."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(IN_THEME, arg=THEMES[theme])
    page.wait_for_function(STILL, arg=theme)
    return [
        f"{theme}: {one['id']}: {node['target'][-1]} {node['failureSummary']}"
        for one in page.evaluate(AXE, rules)
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def too_wide(page: Page) -> list[str]:
    """List the widths at which the page is wider than its window."""
    said = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        over = 0
        for _ in range(20):  # charts and tables follow the window a moment later
            if (over := overhang(page)) <= 0:
                break
            page.wait_for_timeout(100)
        else:
            said.append(f"{over} pixels beyond a width of {width}")
    return said


def test_every_page_can_be_read_and_used_by_everybody_on_every_screen(page: Page, settle) -> None:
    page.add_init_script(KEEP)
    said: list[str] = []
    page.on("console", lambda message: is_news(message) and said.append(f"{page.url}: console: {message.text}"))
    for at, address in enumerate(addresses() if IS_LONG else pages()):
        first, second = ("light", "dark") if at % 2 == 0 else ("dark", "light")
        page.set_viewport_size({"width": 1440, "height": 900})
        page.emulate_media(color_scheme=first)
        page.goto(address)
        settle(page)
        found = faults(page, first, WHOLE) + (faults(page, second, COLOURS) if IS_LONG else []) + too_wide(page)
        said += [f"{address}: {fault}" for fault in found]
    assert said == []


def open_dialog(page: Page, name: str) -> Locator:
    """Press a button, and wait for what it opens."""
    page.get_by_role("button", name=name).filter(visible=True).first.click()
    shown = page.locator(OVER).filter(visible=True)
    expect(shown.first).to_be_visible()
    return shown


def test_what_opens_over_a_page_can_be_read_and_used_by_everybody(page: Page, settle) -> None:
    said = []
    for address, names in OF_THE_FRAME + (OF_PAGES if IS_LONG else ()):
        page.emulate_media(color_scheme="light")
        page.goto(address)
        settle(page)
        for name in names:
            shown = open_dialog(page, name)
            found = faults(page, "light", WHOLE) + (faults(page, "dark", COLOURS) if IS_LONG else [])
            said += [f"{address}, {name}: {fault}" for fault in found]
            page.keyboard.press("Escape")
            expect(shown).to_have_count(0)
    assert said == []


def test_a_bubble_with_a_link_and_the_code_to_embed_can_be_read_by_everybody(page: Page, settle) -> None:
    page.goto(f"/masks?{SRC}")
    settle(page)
    expect(page.locator(".lab[data-attnviz-painted]")).to_be_visible()  # the buttons' script has come by then
    page.get_by_role("button", name="Embed").click()
    expect(page.get_by_text("setting embedders").first).to_be_visible()
    page.get_by_test_id("stWidgetLabel").get_by_text("Target").first.hover()
    expect(page.locator(".definitions:popover-open").get_by_role("link")).to_be_visible()
    assert faults(page, "light", WHOLE) + (faults(page, "dark", COLOURS) if IS_LONG else []) == []
