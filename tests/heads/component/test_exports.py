"""What the Heads component saves: every float32 as CSV, and labels that no SVG takes for markup."""

import csv
from pathlib import Path
from xml.etree import ElementTree

from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER


def test_the_csv_holds_every_float32(visit, tmp_path: Path):
    page = visit()
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="CSV").click()
    path = tmp_path / "map.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    attn = heads_app.maps()["cross"].attn[1, 0]
    assert len(rows) == attn.numel()
    for row in rows:
        assert float(row["weight"]) == float(attn[int(row["row"]), int(row["key_position"])])
        assert row["key"] == heads_app.SOURCE[int(row["key_position"])]


def test_the_svg_carries_the_labels_escaped(visit, tmp_path: Path):
    page = visit("row=1")
    places = page.locator(".avz").evaluate_handle("(root) => root.attnviz.tiles[0].geometry")
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="SVG").click()
    assert page.locator(".avz").evaluate("(root, places) => root.attnviz.tiles[0].geometry === places", places)
    path = tmp_path / "map.svg"
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "<img" not in text
    assert "&#60;b&#62;bold&#60;/b&#62;" in text
    labels = {node.text for node in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")}
    assert {"<b>bold</b>", "مرحبا", "**gros**", "Cross-attention, L1 H0"} <= labels
