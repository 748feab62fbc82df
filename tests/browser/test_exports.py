"""What the pages' own pictures save: a PNG of pixels, an SVG that can be read, the numbers as CSV."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import Page, expect

SENTENCE = "src=I+love+you.&to=fr&tgt=Je+vous+adore."
PICTURES = ("masks", "decoding", "heads")
TEXTS = "{http://www.w3.org/2000/svg}text"


def export(page: Page, item: str) -> Path:
    page.locator("summary", has_text="Export").first.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).first.click()
    return download.value.path()


def test_a_picture_is_saved_in_every_way_its_menu_offers(page: Page, settle: Callable) -> None:
    for name in PICTURES:
        page.goto(f"/{name}?{SENTENCE}")
        expect(page.locator("[data-attnviz-painted]").first).to_be_visible()
        settle(page)
        assert export(page, "PNG").read_bytes().startswith(b"\x89PNG")
        drawn = ElementTree.fromstring(export(page, "SVG").read_text(encoding="utf-8"))
        assert any("love" in (text.text or "") or "vous" in (text.text or "") for text in drawn.iter(TEXTS))
        rows = list(csv.DictReader(io.StringIO(export(page, "CSV").read_text(encoding="utf-8-sig"))))
        assert {"love", "vous"} & {row["key"] for row in rows}
        assert all(0 <= float(row["weight"]) <= 1 for row in rows)
