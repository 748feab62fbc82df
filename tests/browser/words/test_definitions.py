"""Every label of the Heads page that could stop a student has its definition: under pointer, keyboard and finger."""

from playwright.sync_api import Page, expect

from attnviz.kit.glossary import definitions
from tests.browser.heads.tabs import LINK, open_tab

TABS = ("heads", "links", "model", "neuron", "alignment", "flow", "spans")
# Words that say all that there is to say: names of heads and of spans, plain English, and what a press does.
PLAIN = {
    "none", "All", "None", "? help", "zoom in", "zoom out", "whole map", "×", "+ Pin", "Unpin", "mean", "automatic",
    "text", "?",
}  # fmt: skip
# Each control that is seen: its words, the term that it asks for, and the names in its list.
CONTROLS = """(root) => [...root.querySelectorAll("button, select, summary, .term")]
  .filter((node) => node.offsetWidth && node.checkVisibility())
  .map((node) => ({
    text: (node.tagName !== "SELECT" && node.textContent.replace(" ▾", "")) || node.getAttribute("aria-label"),
    term: node.closest("[data-term]")?.dataset.term ?? null,
    options: node.tagName === "SELECT" ? [...node.options].map(({ text }) => text) : [],
    heard: node.getAttribute("aria-description") ?? "",
  }))"""


def definition(term: str) -> str:
    """Read what the term means on this page, in capitals or not."""
    return {name.lower(): text for name, text in definitions("Heads").items()}[term.lower()]


def is_a_name(text: str) -> bool:
    """Check whether a text names a head, a layer, a token, or a number of either."""
    return text[:1] in {"L", "H"} and text[1:2].isdigit()


def test_every_label_has_a_definition(page: Page, settle) -> None:
    for tab in TABS:
        pins = "&pins=cross.1.3~cross.2.0" if tab == "heads" else ""
        picture = open_tab(page, settle, f"{LINK}&tab={tab}&row=1{pins}")
        found = picture.evaluate(CONTROLS)
        assert len(found) >= 6
        for control in found:
            is_defined(control)


def is_defined(control: dict) -> None:
    if control["text"] in PLAIN or is_a_name(control["text"]):
        return
    assert control["term"], f"{control['text']} has no definition"
    assert definition(control["term"]) in control["heard"], control
    for option in control["options"]:
        assert option in PLAIN or is_a_name(option) or definition(option)


def test_a_measure_is_explained_under_the_pointer_and_at_the_keyboards_focus(page: Page, settle) -> None:
    picture = open_tab(page, settle, LINK)
    tip = picture.get_by_role("tooltip")
    picture.get_by_label("Sort", exact=True).select_option("mean_distance")
    picture.get_by_text("Sort", exact=True).hover()
    expect(tip).to_contain_text(definition("Sort"))
    expect(tip).to_contain_text(definition("mean distance"))
    expect(page.locator(".definitions:popover-open")).to_have_count(0)  # the page's own bubble
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    picture.get_by_label("Sort", exact=True).focus()
    page.keyboard.press("Shift+Tab")
    expect(tip).to_contain_text(definition("Cross"))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_definition_lies_inside_the_window(page: Page, settle) -> None:
    picture = open_tab(page, settle, LINK)
    for name in ("Mask", "Every head", "Difference", "Specials"):
        if name == "Specials":
            picture.locator("summary", has_text="Options").click()
        if name == "Difference":
            picture.get_by_role("button", name="+ Pin").click()
        picture.get_by_text(name, exact=True).first.hover()
        tip = picture.get_by_role("tooltip")
        expect(tip).to_contain_text(definition(name))
        box = tip.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1440
        assert 0 <= box["y"] <= 900 - box["height"]
        page.mouse.move(0, 0)


HOLD = """(node) => node.dispatchEvent(new PointerEvent("pointerdown",
  { bubbles: true, composed: true, pointerType: "touch" }))"""


def test_a_finger_that_rests_on_a_control_or_taps_a_term_reads_its_definition(visitor, settle) -> None:
    page = visitor(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
    picture = open_tab(page, settle, f"{LINK}&tab=neuron")
    tip = picture.get_by_role("tooltip")
    picture.get_by_text("softmax", exact=True).tap()
    expect(tip).to_contain_text(definition("softmax"))
    picture.get_by_role("button", name="By contribution").evaluate(HOLD)
    expect(tip).to_contain_text(definition("By contribution"))
