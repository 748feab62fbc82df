"""A tooltip follows what is drawn under a pointer that rests, or goes; a key hides it until the pointer moves."""

import re

from playwright.sync_api import Page, expect

from tests.browser.heads.tabs import LINK, open_tab
from tests.browser.masks import mask_lab

OTHER = "Dogs sleep."
GONE = re.compile("love")
ENTRY = re.compile("piece .+, id [0-9]+")


def ask(page: Page, settle, sentence: str = OTHER) -> None:
    """Enter another sentence by keyboard: the pointer stays where it is."""
    picture = page.locator("[data-attnviz-painted]").first
    before = picture.get_attribute("data-attnviz-painted") or ""
    field = page.get_by_label("Source sentence")
    field.fill(sentence)
    field.press("Enter")
    page.wait_for_url(lambda address: "Dogs" in address)
    settle(page)
    expect(picture).not_to_have_attribute("data-attnviz-painted", before)


def visible_text(tip) -> str:
    return tip.inner_text() if tip.is_visible() else ""


def test_on_the_heads_page(page: Page, settle) -> None:
    picture = open_tab(page, settle, "/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3")
    x, y = picture.evaluate(
        """(root) => { const { x, y, cell } = root.attnviz.tiles[0].geometry;
        const box = root.attnviz.parts.overlay.getBoundingClientRect();
        return [box.x + x + 1.5 * cell.w, box.y + y + 1.5 * cell.h]; }"""
    )
    page.mouse.move(x, y)
    tip = page.locator(".map-box .tip")
    expect(tip).to_contain_text("love")
    expect(tip).to_contain_text(ENTRY)
    ask(page, settle)
    assert not GONE.search(visible_text(tip))
    page.get_by_role("gridcell", name="L1 H2").locator("canvas").hover()
    small = page.locator(".tip.in-window")
    expect(small).to_contain_text("L1 H2")
    expect(small).to_contain_text(ENTRY)
    ask(page, settle, "Dogs and 龘 sleep.")
    expect(small).to_be_hidden()
    unknown = picture.locator(".token", has_text="<unk> 龘")
    unknown.hover()
    expect(unknown).to_have_attribute("title", re.compile("piece \u2068<unk>\u2069, id 1, unknown to the model"))
    x, y = picture.evaluate(
        """(root) => { const { x, y, cell, angle } = root.attnviz.tiles[0].geometry;
        const box = root.attnviz.parts.overlay.getBoundingClientRect();
        const up = 12; // along the third column's name, which rises to the right
        return [box.x + x + 2.5 * cell.w + (angle ? up / Math.tan(-angle) : 0), box.y + y - up]; }"""
    )
    page.mouse.move(x, y)
    expect(tip).to_have_text(re.compile("^key.*#2piece"))


def test_on_the_decoding_page(page: Page, settle) -> None:
    page.goto("/decoding?src=I+love+you.&to=fr&layer=0&head=0")
    settle(page)
    stepper = page.locator(".stepper[data-attnviz-painted]")
    expect(stepper).to_be_visible()
    x, y = stepper.evaluate(
        """(root) => { const box = root.attnviz.boxes.find(({ kind }) => kind.kind === "cross" && kind.by === "steps");
        const at = root.attnviz.parts.map.getBoundingClientRect();
        return [at.x + box.x + 1.5 * box.w, at.y + box.y + 1.5 * box.h]; }"""
    )
    page.mouse.move(x, y)
    tip = stepper.locator(".tip")
    expect(tip).to_contain_text("looks at")
    expect(tip).to_contain_text(ENTRY)
    before = visible_text(tip)
    stepper.get_by_label("Head", exact=True).select_option("5")
    expect(tip).not_to_have_text(before)
    expect(tip).to_contain_text("looks at")
    stepper.get_by_label("Step", exact=True).focus()
    page.keyboard.press("Home")
    expect(tip).to_be_hidden()
    page.mouse.move(x + 1, y)
    expect(tip).to_contain_text("still to come")
    ask(page, settle)
    assert not GONE.search(visible_text(tip))


def test_on_the_masks_page(page: Page, settle) -> None:
    mask_lab.open_masks(page, settle, f"{mask_lab.LINK}&kind=cross")
    x, y = mask_lab.middle(page, 1, 1, "attn")
    page.mouse.move(x, y)
    tip = mask_lab.lab(page).locator(".tip")
    expect(tip).to_contain_text("love")
    expect(tip).to_contain_text(ENTRY)
    before = visible_text(tip)
    mask_lab.lab(page).locator("canvas").first.evaluate("(canvas) => canvas.focus()")
    page.keyboard.press("c")  # hides the column
    expect(tip).to_be_hidden()
    page.mouse.move(x + 1, y)
    expect(tip).not_to_have_text(before)
    ask(page, settle)
    said = visible_text(tip)
    assert not GONE.search(said)
    if said:
        assert mask_lab.lab(page).evaluate("({ attnviz: app }) => app.rowNames[app.hover.row]") in said


def test_the_links_tooltip_names_the_hovered_token_and_forgets_it_with_the_sentence(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=links")
    picture.locator(".queries .link-token").last.hover()
    expect(picture.locator(".list-title")).to_contain_text("looks at")
    expect(picture.locator(".list-title + p")).to_contain_text(ENTRY)
    ask(page, settle, "Dogs.")
    expect(picture).not_to_contain_text("love")
    tokens = picture.evaluate("(root) => root.attnviz.tokens.q.length")
    hovered = picture.evaluate("(root) => root.attnviz.hovered")
    assert hovered is None or int(hovered[1:]) < tokens


def test_the_tooltip_of_the_neuron_tells_the_products_numbers(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=neuron&row=2&key=1")
    expect(picture.get_by_text(re.compile("^query: piece .*, id [0-9]+ · key: piece .*, id [0-9]+$"))).to_be_visible()
    box = picture.locator(".cell-box").bounding_box()
    page.mouse.move(box["x"] + 120, box["y"] + 20)
    said = picture.locator("p", has_text=re.compile("^element [0-9]+: q"))
    expect(said).to_be_visible()
    before = said.inner_text()
    picture.get_by_label("Head", exact=True).select_option("5")
    expect(said).not_to_have_text(before)
    at = int(re.search("[0-9]+", said.inner_text())[0])
    numbers = picture.evaluate("(root, at) => [root.attnviz.pair.query[at], root.attnviz.pair.product[at]]", at)
    told = [float(text) for text in re.findall(r"-?[\d.]+(?:e-?\d+)?", said.inner_text())]
    assert abs(told[1] - numbers[0]) < 1e-3
    assert abs(told[3] - numbers[1]) < 1e-3
