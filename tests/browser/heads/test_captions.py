"""Every picture that a page saves says what it is of: sentence and translation, kind, layer and head, model."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import Page, expect

HEAD = "src=I+love+you.&to=fr&tgt=Je+vous+adore.&kind=cross&layer=1&head=3"
PICTURES = (
    (f"/heads?{HEAD}&row=2", "Cross-attention, L1 H3"),
    (f"/heads?{HEAD}&pins=cross.1.3~encoder_self.0.2&compare=side", "Cross L1 H3, Encoder self L0 H2"),
    (f"/heads?{HEAD}&pins=cross.1.3~cross.2.0&compare=difference", "Cross-attention, L1 H3 − L2 H0"),
    (f"/heads?{HEAD}&tab=links", "Cross-attention, L1 H3"),
    (f"/heads?{HEAD}&tab=model&mini=lines", "Cross-attention, every layer and head"),
    (f"/heads?{HEAD}&tab=neuron", "Cross-attention, L1 H3"),
    (f"/masks?{HEAD}", "Cross-attention, L1 H3"),
    ("/decoding?src=I+love+you.&to=fr", "Cross-attention, Encoder self-attention, L1 H"),
)
# What stands on controls, or tells a hand what to do: a file has neither.
CONTROLS = re.compile(r"up to 4|\bdrag\b|\bclick|in focus|not pinned|arrow key|zoom|thumbnail|Enter", re.IGNORECASE)
TEXTS = "{http://www.w3.org/2000/svg}text"
LONG = "+".join(["The+small+cat+sleeps+on+the+table+of+my+old+friend+and"] * 5)


def export(page: Page, item: str) -> Path:
    page.locator("summary", has_text="Export").first.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).first.click()
    return download.value.path()


def texts(path: Path) -> list[str]:
    drawn = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return [re.sub("[\u2068\u2069]", "", node.text or "") for node in drawn.iter(TEXTS)]


def open_picture(page: Page, settle: Callable, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-attnviz-painted]").first).to_be_visible()
    settle(page)


def test_a_saved_picture_says_what_it_is_of(page: Page, settle: Callable) -> None:
    for path, site in PICTURES:
        open_picture(page, settle, path)
        has_its_caption(page, site)


def has_its_caption(page: Page, site: str) -> None:
    told = texts(export(page, "SVG"))
    sentence, about = told.index(next(text for text in told if text.startswith("I love you. → Je "))), told[-1]
    assert sentence >= len(told) - 3, "the caption is the last that is drawn"
    caption = " ".join(told[sentence:])
    assert site in caption
    assert "translator en→de·es·fr·zh, weights " in caption, about
    assert not [text for text in told if CONTROLS.search(text)]


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
