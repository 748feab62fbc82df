"""A term's bubble: the link to where it is tried, and the keyboard that was there before the script."""

import json

import pytest
from playwright.sync_api import Page

from tests.browser.at_rest import wait_in_page
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

PLACES = {"Fill": ("Masks", "fills", "All fills"), "Head": ("Heads", "", ""), "Fit": ("Heads", "links", "Links")}
# As a page has them: the menu, a tab's button, marked terms, a field with its label.
FRAME = """() => {
  window.leave?.();
  history.replaceState(null, "", "#");
  document.body.innerHTML = `
    <div data-rail></div>
    <button>All fills</button> <span tabindex="0" data-term="Fill">Fill</span>
    <span tabindex="0" data-term="Head">Head</span>
    <div data-testid="stElementContainer"><label data-testid="stWidgetLabel">Fill (of cells)</label><input></div>
    <div id="here"></div>`;
  document.querySelector("[data-rail]").attachShadow({ mode: "open" }).innerHTML = `
    <a href="http://127.0.0.1/masks?src=Hi&tab=rows">Masks</a>
    <a href="http://127.0.0.1/heads?src=Hi&tab=flow">Heads</a>`;
  const bubble = '<div class="definition definitions" popover="manual"></div>';
  document.querySelector("#here").attachShadow({ mode: "open" }).innerHTML = bubble;
  window.sent = [];
}"""
MOUNT = """(script, [words, places]) => {
  window.leave = script.default({
    parentElement: document.querySelector("#here").shadowRoot,
    data: { words, places },
    setTriggerValue: (name, value) => window.sent.push([name, value]),
  });
}"""


@pytest.fixture
def mount_bubble(empty_page: Page, module):
    """Mount the page's bubble; what the keyboard has at that moment may be given."""
    script = module("app/widgets/definitions/definitions.js")

    def mount(keyboard: str = "") -> Page:
        empty_page.evaluate(FRAME)
        if keyboard:
            empty_page.locator(keyboard).focus()
        script(MOUNT, [{term: f"What {term} is." for term in (*PLACES, "All fills")}, PLACES])
        return empty_page

    return mount


def bubble_text(page: Page) -> str:
    return page.locator(".definitions:popover-open").inner_text()


def test_a_link_leads_to_the_tab_with_the_sentence_of_the_menu(mount_bubble) -> None:
    page = mount_bubble()
    for term, query in (("Fill", "src=Hi&tab=fills"), ("Head", "src=Hi")):
        page.locator(f"[data-term={term}]").hover()
        link = page.locator(".definitions:popover-open a")
        link.wait_for()
        assert (link.get_attribute("href") or "").endswith(f"?{query}")
        page.keyboard.press("Escape")


def test_the_keyboard_follows_it_by_its_key_and_esc_closes_it(mount_bubble) -> None:
    page = mount_bubble()
    page.locator("[data-term=Fill]").focus()
    page.keyboard.press("Shift")
    assert "Try it on Masks: All fills" in bubble_text(page)
    assert "Alt+Enter: Try it on Masks" in (page.locator("[data-term=Fill]").get_attribute("aria-description") or "")
    page.keyboard.press("Alt+Enter")
    assert page.evaluate("window.sent") == [["go", {"word": "Fill"}]]
    assert page.locator(".definitions:popover-open").count() == 0
    page.keyboard.press("Alt+Enter")
    assert len(page.evaluate("window.sent")) == 1, "nothing is explained any more"


def test_what_had_the_keyboard_before_the_script_came_is_explained(mount_bubble) -> None:
    page = mount_bubble("[data-term=Head]")
    assert bubble_text(page).startswith("What Head is.")


def test_a_field_that_is_come_to_backwards_stays_explained(mount_bubble) -> None:
    page = mount_bubble()
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<input id=after>')")
    page.locator("#after").focus()
    page.keyboard.press("Shift+Tab")
    assert bubble_text(page).startswith("What Fill is.")


def test_a_labels_bubble_leaves_its_field_free_and_lets_the_pointer_in(mount_bubble) -> None:
    page = mount_bubble()
    page.locator("label").hover()
    bubble = page.locator(".definitions:popover-open")
    bubble.wait_for()
    field, box = page.locator("input").bounding_box(), bubble.bounding_box()
    assert field is not None
    assert box is not None
    assert box["y"] >= field["y"] + field["height"]
    page.mouse.move(box["x"] + 9, box["y"] + 9, steps=3)
    wait_in_page(page, 500)
    assert bubble.count() == 1
    page.mouse.move(700, 500)
    bubble.wait_for(state="detached")


def test_a_tabs_own_button_has_no_link_to_itself(mount_bubble) -> None:
    page = mount_bubble()
    page.locator("button").focus()
    page.keyboard.press("Shift")
    assert page.locator(".definitions:popover-open a").count() == 0


def test_with_a_key_held_down_the_browser_opens_the_link_beside_the_page(mount_bubble) -> None:
    page = mount_bubble()
    page.locator("[data-term=Fill]").hover()
    link = page.locator(".definitions:popover-open a")
    is_browsers = """(node) => {
      const click = new MouseEvent("click", { ctrlKey: true, bubbles: true, cancelable: true, composed: true });
      let left = false;
      addEventListener("click", (event) => { left = !event.defaultPrevented; event.preventDefault(); }, { once: true });
      node.dispatchEvent(click);
      return left;
    }"""
    assert link.evaluate(is_browsers)
    assert page.evaluate("window.sent") == []


def test_a_finger_taps_the_link(mount_bubble) -> None:
    page = mount_bubble()
    down = "(node) => node.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true, pointerType: 'touch'}))"
    page.locator("[data-term=Fill]").evaluate(down)
    link = page.locator(".definitions:popover-open a")
    link.evaluate(down)
    link.evaluate("(node) => node.click()")
    assert json.loads(page.evaluate("JSON.stringify(window.sent)")) == [["go", {"word": "Fill"}]]
