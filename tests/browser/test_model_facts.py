"""The facts of the model in the top bar: by mouse and by keyboard, on a desk and on a phone."""

import re

from playwright.sync_api import Locator, Page, expect


def test_it_opens_beside_the_models_name_and_escape_closes_it(page: Page, settle) -> None:
    page.goto("/heads?src=I+love+you.&to=fr")
    settle(page)
    button = page.get_by_role("button", name="About this model")
    for width, scheme in ((1280, "dark"), (390, "light")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        if width == 390:
            page.get_by_role("button", name="Bar: I love you. → French").click()
            button.click()
        else:
            button.focus()
            page.keyboard.press("Enter")
        fit(page.get_by_role("dialog"), width)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        settle(page)
    page.reload()
    settle(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


def fit(facts: Locator, width: int) -> None:
    expect(facts).to_contain_text("3 layers × 8 heads, d_k 32, each head has its own keys")
    expect(facts.get_by_text(re.compile("CC BY 2.0 FR"))).to_be_visible()
    inside = facts.locator(".model-facts").evaluate("(node) => [node.scrollWidth - node.clientWidth, node.clientWidth]")
    assert inside[0] <= 0
    assert inside[1] < width
