"""The Heads page as a visitor has it: links, a sentence, the keyboard, Back, exports, wide and narrow."""

import re
import struct
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

from playwright.sync_api import Locator, Page, expect

from tests.browser.at_rest import lie_apart, wait_until_at_rest

LINK = "/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3"
SIZES = [(1440, 900), (1280, 720)]


def picture(page: Page) -> Locator:
    """Return the component, once it has drawn something."""
    return page.locator("[data-attnviz-painted]:not([data-attnviz-painted=''])")


def source(page: Page) -> Locator:
    return page.get_by_label("Source sentence")


def open_heads(page: Page, settle, link: str = LINK) -> Page:
    page.goto(link)
    settle(page)
    expect(picture(page)).to_be_visible()
    return page


def address_param(page: Page, name: str) -> str:
    return parse_qs(urlsplit(page.url).query).get(name, [""])[0]


def test_enter_runs_and_the_address_follows(page: Page, settle) -> None:
    open_heads(page, settle)
    before = picture(page).get_attribute("data-attnviz-painted")
    source(page).fill("Machine learning is fun.")
    source(page).press("Enter")
    expect(picture(page)).not_to_have_attribute("data-attnviz-painted", before or "")
    expect(picture(page)).to_contain_text("learning")
    expect(page).to_have_url(re.compile("learning"))


def test_arrows_walk_the_heads_and_the_link_learns_of_it(page: Page, settle) -> None:
    open_heads(page, settle)
    page.get_by_role("gridcell").first.focus()
    page.keyboard.press("ArrowRight")
    expect(picture(page)).not_to_contain_text(re.compile("Cross-attention, L1 H3"))
    page.wait_for_function("!location.search.includes('layer=1&head=3')")
    settle(page)
    page.reload()
    settle(page)
    chosen = f"L{address_param(page, 'layer') or 1} H{address_param(page, 'head') or 3}"
    expect(picture(page)).to_contain_text(f"Cross-attention, {chosen}")


def test_its_map_is_saved_and_it_fits_every_screen_without_overlap(page: Page, settle) -> None:
    open_heads(page, settle)
    the_map_is_saved_as_a_png_of_twice_its_size_and_as_an_svg_with_title_and_labels(page)
    bar = page.locator(".st-key-top-bar")
    columns = bar.locator("[data-testid='stColumn']:not(:has([data-testid='stColumn']))")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        wait_until_at_rest(picture(page))
        box = picture(page).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
        # All at one moment: a field still finds its width while the page settles.
        boxes = columns.or_(picture(page)).evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        shown = [box for box in boxes if box["width"]]
        assert len(shown) > 5
        lie_apart(shown)
    page.set_viewport_size({"width": 390, "height": 844})  # a phone stacks, and scrolls only down
    wait_until_at_rest(picture(page))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = picture(page).bounding_box()
    assert box is not None
    assert box["width"] <= 390


def test_text_is_never_markup(page: Page, settle) -> None:
    open_heads(
        page, settle, "/heads?to=fr&src=%3Cimg+src%3Dx+onerror%3D%22window.hacked%3D1%22%3E+%3Cb%3Ebold%3C%2Fb%3E"
    )
    assert page.evaluate("window.hacked") is None
    assert picture(page).locator("img, b").count() == 0


def test_back_and_forward_walk_through_what_was_chosen(page: Page, settle) -> None:
    open_heads(page, settle)
    titles, addresses = ["Cross-attention, L1 H3"], [page.url]
    page.get_by_role("gridcell", name="L2 H5").click()
    for key, title in ((None, "Cross-attention, L2 H5"), ("1", "Encoder self-attention, L2 H5"), ("+", None)):
        if key:
            page.keyboard.press(key)
        before = addresses[-1]
        page.wait_for_url(lambda address, before=before: address != before)
        settle(page)
        titles.append(title or titles[-1])
        addresses.append(page.url)
    assert address_param(page, "zoom")
    for title, address in reversed(list(zip(titles[:-1], addresses[:-1], strict=True))):
        page.go_back()
        expect(page).to_have_url(address)
        settle(page)
        expect(picture(page)).to_contain_text(title)
        expect(page.get_by_role("button", name="whole map")).to_be_hidden()
    for title, address in list(zip(titles, addresses, strict=True))[1:]:
        page.go_forward()
        expect(page).to_have_url(address)
        settle(page)
        expect(picture(page)).to_contain_text(title)
    expect(page.get_by_role("button", name="whole map")).to_be_visible()


def export(page: Page, item: str) -> Path:
    """Read what the export menu's item saves."""
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).click()
    return download.value.path()


def the_map_is_saved_as_a_png_of_twice_its_size_and_as_an_svg_with_title_and_labels(page: Page) -> None:
    content = export(page, "PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    box = page.locator(".map-box").bounding_box()
    assert box is not None
    assert width >= 2 * box["width"]
    assert height >= 2 * box["height"]
    colours = page.evaluate(
        """async (bytes) => { const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
        const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
        pen.drawImage(image, 0, 0);
        const pixels = new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer);
        return new Set(pixels).size; }""",
        list(content),
    )
    assert colours > 20, "a map in the colours of its scale, not an empty sheet"
    root = ElementTree.fromstring(export(page, "SVG").read_text(encoding="utf-8"))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Cross-attention, L1 H3" in texts
    assert {"I", "love", "you", "<eos>", "key → (source token)"} <= set(texts)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}image"))) == 2, "the map and its scale"
