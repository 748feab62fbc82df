"""The drawing of the model over a page: it opens by key and button, plays the run's numbers, and leads to its parts."""

import re

from playwright.sync_api import Locator, Page, expect

LINK = "/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=6&row=2"
TEXTS = """(svg) => [...svg.querySelectorAll("text")].map((text) => {
  const { left, right, top, bottom } = text.getBoundingClientRect();
  return [text.textContent, left, top, right, bottom];
})"""


def sheet(page: Page) -> Locator:
    return page.get_by_test_id("stDialog").locator(".drawing")


def overlapping(texts: list) -> list[tuple[str, str]]:
    """List pairs of texts that overlap."""
    return [
        (one[0], other[0])
        for at, one in enumerate(texts)
        for other in texts[at + 1 :]
        if min(one[3], other[3]) - max(one[1], other[1]) > 1 and min(one[4], other[4]) - max(one[2], other[2]) > 2.5
    ]


def test_the_drawing_opens_plays_the_rows_numbers_and_leads_to_a_part(page: Page, settle) -> None:
    page.goto(LINK)
    settle(page)
    weights = page.locator(".avz .bars, .avz").first
    expect(weights).to_be_visible()
    page.keyboard.press("g")
    drawing = sheet(page)
    here = drawing.locator("[data-part=cross]")
    expect(here.get_by_role("link", name="Head 6, you are here")).to_have_count(1)
    assert overlapping(drawing.locator("svg").first.evaluate(TEXTS)) == []
    drawing.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(drawing.locator("h2")).to_have_text("Cross-attention, L1 H6")
    expect(drawing.locator(".bars li").first).to_contain_text(re.compile(r"0\.\d{4,5}$"))
    expect(drawing.locator("[data-part=cross].lit")).to_have_count(1)
    with page.expect_download() as download:
        drawing.get_by_text("Export").click()
        drawing.get_by_role("menuitem", name="SVG picture").click()
    saved = download.value.path().read_text(encoding="utf-8")
    assert "Multi-head cross-attention" in saved
    assert "I love you." in saved
    address = drawing.locator("[data-part=encoder_self] a").first.get_attribute("href")
    assert re.match(r"heads\?.*kind=encoder_self", address or "")
    left = page.url
    drawing.get_by_role("link", name="Its mask: Masks").click()
    expect(page).to_have_url(re.compile(r"/masks\?.*layer=1"))
    settle(page)
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
    page.go_back()
    expect(page).to_have_url(left)  # one step of Back, to the page as it was left


def test_it_opens_by_its_button_and_no_text_covers_another(page: Page, settle) -> None:
    page.goto("/learning")
    settle(page)
    for width, scheme in ((390, "dark"), (1920, "light")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.get_by_role("button", name="Model drawing", exact=True).filter(visible=True).click()
        drawing = sheet(page)
        expect(drawing.locator("svg").first).to_be_visible()
        assert overlapping(drawing.locator("svg").first.evaluate(TEXTS)) == []
        box = drawing.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stDialog")).to_have_count(0)
        settle(page)


def test_words_of_the_page_lead_to_where_they_are_tried(page: Page, settle) -> None:
    page.goto("/masks?src=I+love+you.&to=fr")
    settle(page)
    page.get_by_role("button", name="Model drawing", exact=True).filter(visible=True).click()
    dialog = page.get_by_test_id("stDialog")
    dialog.get_by_text("Words on this page").click()
    entry = dialog.locator(".page-words > div").filter(has=page.locator("dt", has_text=re.compile("^Row by row$")))
    link = entry.get_by_role("link", name="Try it on Masks: Row by row")
    assert "tab=rows" in (link.get_attribute("href") or "")
    page.evaluate("window.stayed = true")
    link.click()
    expect(page).to_have_url(re.compile("tab=rows"))
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
    assert page.evaluate("window.stayed"), "the page was not loaded again"
