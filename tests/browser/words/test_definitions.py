"""Every label of the Heads page that could stop a student has its definition: under pointer, keyboard and finger."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.heads.tabs import LINK, definition, every_label_is_defined, open_tab


def test_every_label_of_the_maps_has_a_definition(page: Page, settle) -> None:
    """tests/browser/heads/test_tabs.py has those of the other tabs."""
    every_label_is_defined(open_tab(page, settle, f"{LINK}&row=1&pins=cross.1.3~cross.2.0"))


def test_a_definition_lies_inside_the_window_and_is_there_for_pointer_and_keyboard(page: Page, settle) -> None:
    picture = open_tab(page, settle, LINK)
    a_measure_is_explained_under_the_pointer_and_at_the_keyboards_focus(page, picture)
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


def a_measure_is_explained_under_the_pointer_and_at_the_keyboards_focus(page: Page, picture: Locator) -> None:
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


HOLD = """(node) => node.dispatchEvent(new PointerEvent("pointerdown",
  { bubbles: true, composed: true, pointerType: "touch" }))"""


def test_a_finger_that_rests_on_a_control_or_taps_a_term_reads_its_definition(new_tab, settle) -> None:
    page = new_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    picture = open_tab(page, settle, f"{LINK}&tab=neuron")
    tip = picture.get_by_role("tooltip")
    picture.get_by_text("softmax", exact=True).tap()
    expect(tip).to_contain_text(definition("softmax"))
    picture.get_by_role("button", name="By contribution").evaluate(HOLD)
    expect(tip).to_contain_text(definition("By contribution"))
