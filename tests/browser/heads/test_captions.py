"""A picture that a page saves says what it is of: sentence and translation, kind, layer and head, model.

test_tabs.py has the pictures of the other tabs of Heads.
"""

import csv
import io
from collections.abc import Callable
from xml.etree import ElementTree

from playwright.sync_api import Page, expect

from tests.browser.heads.tabs import export, has_its_caption, texts

HEAD = "src=I+love+you.&to=fr&tgt=Je+vous+adore.&kind=cross&layer=1&head=3"
PICTURES = (
    (f"/heads?{HEAD}&row=2", "Cross-attention, L1 H3"),
    (f"/heads?{HEAD}&pins=cross.1.3~encoder_self.0.2&compare=side", "Cross L1 H3, Encoder self L0 H2"),
    (f"/heads?{HEAD}&pins=cross.1.3~cross.2.0&compare=difference", "Cross-attention, L1 H3 − L2 H0"),
    (f"/masks?{HEAD}", "Cross-attention, L1 H3"),
    ("/decoding?src=I+love+you.&to=fr", "Cross-attention, Encoder self-attention, L1 H"),
)
LONG = "+".join(["The+small+cat+sleeps+on+the+table+of+my+old+friend+and"] * 5)


def open_picture(page: Page, settle: Callable, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-attnviz-painted]").first).to_be_visible()
    settle(page)


def test_a_saved_picture_says_what_it_is_of_and_its_menu_saves_pixels_and_numbers(page: Page, settle: Callable) -> None:
    for path, site in PICTURES:
        open_picture(page, settle, path)
        has_its_caption(page, site)
        if "pins" not in path:
            assert export(page, "PNG").read_bytes().startswith(b"\x89PNG")
            rows = list(csv.DictReader(io.StringIO(export(page, "CSV").read_text(encoding="utf-8-sig"))))
            assert {"love", "vous"} & {row["key"] for row in rows}
            assert all(0 <= float(row["weight"]) <= 1 for row in rows)


def test_a_long_sentence_is_wrapped_and_the_model_is_told_all_the_same(page: Page, settle: Callable) -> None:
    open_picture(page, settle, f"/heads?src={LONG}.&to=fr&kind=cross&layer=1&head=3")
    path = export(page, "SVG")
    width = float(ElementTree.fromstring(path.read_text(encoding="utf-8")).attrib["width"])
    told = texts(path)
    first = told.index(next(text for text in told if text.startswith("The small cat sleeps on the")))
    caption = told[first:]
    assert 3 <= len(caption) <= 5
    assert any(line.endswith("…") for line in caption), "what is left out is told"
    assert all(len(line) * 4 < width for line in caption)
    assert "Cross-attention, L1 H3 · translator" in " ".join(caption)


def test_a_plotly_figure_is_saved_with_its_caption(page: Page, settle) -> None:
    page.goto(f"/heads?{HEAD}&plotly=1")
    settle(page)
    figure, tools = page.locator(".st-key-map-figure .js-plotly-plot"), page.locator(".st-key-map-figure-save")
    expect(figure).to_be_visible()
    with page.expect_download() as download:
        tools.get_by_role("button", name="SVG").click()
    told = texts(download.value.path())
    assert any(text.startswith("I love you. → Je vous adore.") for text in told)
    assert "Cross-attention, L1 H3" in told[-1]
    assert "weights " in told[-1]
    with page.expect_download() as download:
        tools.get_by_role("button", name="PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    figure.hover()
    assert page.locator(".modebar-btn[data-title*='ownload']").count() == 0, "Plotly's own button knows no caption"
