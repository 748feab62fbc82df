"""A conversation in a file of its own and in a notebook's cell: the same bands, folded where that is asked for."""

from pathlib import Path

from playwright.sync_api import Page, expect

import attnviz
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.hosts.html.reading import payloads
from tests.hosts.notebook.cell import Cells

pytestmark = NEEDS_A_BROWSER
NAMES = ["system", "user", "assistant", "user 2", "assistant 2"]


def test_a_file_shows_the_turns_and_is_folded_where_asked(empty_page: Page, conversation, tmp_path: Path) -> None:
    path = conversation.to_html(tmp_path / "chat.html", kind="decoder_self", words="spans")
    (payload,) = payloads(path.read_text(encoding="utf-8"))
    (kind,) = payload.header["kinds"]
    assert [name for name in kind["cols"] if name in NAMES] == NAMES
    assert [band["name"] for band in kind["row_spans"]] == [band["name"] for band in kind["spans"]] == NAMES
    empty_page.goto(path.as_uri())
    expect(empty_page.locator(".span-name")).to_have_text(NAMES)
    expect(empty_page.locator(".legend")).to_contain_text("folded into spans")
    expect(empty_page.locator(".legend")).to_contain_text("bands: who speaks")


def test_a_cell_of_a_notebook_shows_the_turns_and_folds_them(empty_page: Page, conversation) -> None:
    cells = Cells(empty_page, attnviz.show(conversation, kind="decoder_self"))
    picture = cells.picture(0)
    expect(picture.locator(".span-name")).to_have_text(NAMES)
    picture.locator("summary", has_text="Options").click()
    picture.get_by_role("button", name="Fold").click()
    assert cells.told()["words"] == "spans"
