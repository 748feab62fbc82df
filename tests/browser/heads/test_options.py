"""The toolbar of the Heads page: five controls in sight, the rest in one menu that opens for mouse, key and finger."""

from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Locator, Page, expect

from tests.browser.at_rest import wait_until_at_rest
from tests.browser.heads.tabs import LINK, chosen_view, open_tab

# The controls around the pictures, less the tabs of the kinds: of the overview, and of the head in focus.
IN_SIGHT = """(root) => [...root.querySelectorAll(":is(.overview, .focus) :is(.tools, header)"
  + " :is(button:not([role=tab]), select, summary)")].filter((node) => node.checkVisibility()
  && !node.closest(".walk")).map((node) => node.getAttribute("aria-label") ?? node.textContent)"""
FIVE = ["Sort", "+ Pin", "Mask", "Switch L1 H3 off", "Export"]
IN_MENU = ["Mean heads", "Mean layers", "Cells", "Range", "Specials", "Words", "Tint", "Plotly", "Table"]
EDGES = "(all) => all.map((one) => one.getBoundingClientRect().right)"
AXE = "() => axe.run(document).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious'))"


def menu(page: Page) -> Locator:
    return page.locator(".options-list")


def button(page: Page) -> Locator:
    return page.locator(".options > summary")


def test_five_controls_are_in_sight_nine_in_the_menu_and_the_switch_says_what_it_does(page: Page, settle) -> None:
    picture = open_tab(page, settle, LINK)
    the_switch_says_what_it_switches(page, picture)
    for width in (1440, 1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        wait_until_at_rest(picture)
        assert picture.evaluate(IN_SIGHT) == [*FIVE, "Options"]
        button(page).click()
        assert picture.evaluate(IN_SIGHT) == [*FIVE, "Options", *IN_MENU]
        inside = menu(page).bounding_box()  # in the top layer: it stays in the window
        assert inside["x"] >= 0
        assert inside["x"] + inside["width"] <= width
        edges = menu(page).locator("button, .pick").evaluate_all(EDGES)
        assert max(edges) <= inside["x"] + inside["width"]
        page.keyboard.press("Escape")
        expect(menu(page)).to_be_hidden()


def the_switch_says_what_it_switches(page: Page, picture: Locator) -> None:
    switch = picture.locator("[data-term='Switch off']")
    page.keyboard.press("a")
    expect(switch).to_have_text("Switch all of L1 off")
    page.keyboard.press("l")
    expect(switch).to_have_text("Switch all heads off")
    page.keyboard.press("a")
    expect(switch).to_have_text("Switch H3 of all layers off")
    page.keyboard.press("l")  # the head of before


def test_the_menu_stays_open_while_several_are_chosen_and_counts_them(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&row=2")
    expect(button(page)).to_have_text("Options")
    button(page).click()
    menu(page).get_by_role("button", name="Words", exact=True).click()
    menu(page).get_by_label("Specials").select_option("hide")
    menu(page).get_by_label("Range").select_option("max")
    expect(menu(page)).to_be_visible()
    expect(button(page)).to_have_text("Options · 3")
    expect(button(page)).to_have_accessible_name("Options, 3 not at their default")
    assert menu(page).locator(".changed").evaluate_all("(all) => all.map(({ dataset }) => dataset.term)") == [
        "Range", "Specials", "Words",
    ]  # fmt: skip
    page.wait_for_url("**words=1**")
    settle(page)
    expect(menu(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu(page)).to_be_hidden()
    expect(button(page)).to_be_focused()
    assert chosen_view(picture)["row"] == 2, "Esc takes one thing away at a time"
    page.keyboard.press("v")
    expect(menu(page).get_by_role("button", name="Mean heads")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert chosen_view(picture)["layer"] == "mean"
    page.locator(".legend").click()
    expect(menu(page)).to_be_hidden()
    page.keyboard.press("v")
    page.get_by_label("Source sentence").click()  # in the page around the component
    expect(menu(page)).to_be_hidden()


def test_the_menu_opens_under_a_finger_and_in_present(new_tab, settle) -> None:
    page = new_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    wait_until_at_rest(open_tab(page, settle, LINK))  # a tap that is on its way hits nothing where the picture moves
    button(page).tap()
    menu(page).get_by_role("button", name="Words", exact=True).tap()
    menu(page).get_by_role("button", name="Mean heads", exact=True).tap()
    expect(button(page)).to_have_text("Options · 2")
    page = new_tab()
    picture = open_tab(page, settle, f"{LINK}&present=1")
    expect(page.locator("[data-presented]")).to_have_count(1)
    expect(button(page)).to_be_hidden()
    page.keyboard.press("v")
    menu(page).get_by_role("button", name="Words", exact=True).click()
    assert chosen_view(picture)["words"]
    page.keyboard.press("Escape")
    expect(menu(page)).to_be_hidden()
    expect(page.locator("[data-presented]")).to_have_count(1)
    page.keyboard.press("w")
    assert not chosen_view(picture)["words"]


def test_the_open_menu_can_be_read_and_used_by_everybody(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&words=1&specials=hide")
    page.add_script_tag(path=AXE_FILE_PATH)
    button(page).click()
    page.mouse.move(0, 0)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(picture).to_have_attribute("data-theme", scheme)
        page.wait_for_function("() => document.getAnimations().every(({ playState }) => playState !== 'running')")
        expect(menu(page)).to_be_visible()
        assert page.evaluate(AXE) == []
