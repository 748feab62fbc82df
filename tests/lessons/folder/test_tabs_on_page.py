"""Tabs that are HTML on a lesson's page, opened from the disk: their controls change what is drawn."""

from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Locator, Page, expect

from attnviz.lessons.folder.files import folder_files, write_folder
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.picture import pictures
from attnviz.lessons.reading import read, read_file
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.lessons.folder.test_page import Visit, press
from tests.lessons.folder.test_page_for_everybody import PHONE, SERIOUS
from tests.lessons.front_matter import FRONT_MATTER

pytestmark = NEEDS_A_BROWSER
HOSTILE = "%3Cimg+src%3Dx+onerror%3Dalert(1)%3E"
TABS = [
    "/masks?src=I+love+you.&to=fr&kind=decoder_self&masks=none&tab=says",
    "/masks?src=I+love+you.&to=fr&kind=decoder_self&tab=fills",
    "/masks?src=I+love+you.&to=fr&kind=decoder_self&tab=rows",
    "/masks?src=I+love+you.&to=fr&kind=decoder_self&tab=broadcast&masks=causal~padding&second=Hello.",
    f"/masks?src=I+love+you.&to=fr&tgt={HOSTILE}&kind=decoder_self&tab=leak&instead={HOSTILE}",
    f"/masks?src={'I+love+you+and+' * 12}you.&to=fr&kind=encoder_self&tab=fills&row=40",
    "/causes?src=I+love+you.&to=fr&tab=sentences&part=pruning",
]
LEAK = "4-what-the-causal-mask-hides.html#3"
LEFT_OUT = "This folder has 32 of {} choices, those nearest to the link’s; attnviz itself has all of them."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder with the shipped lesson whose steps open the leak test, and one with the other tabs."""
    made = tmp_path_factory.mktemp("site") / "lessons"
    steps = "\n".join(f"## {at}\n\n[it]({link})\n" for at, link in enumerate(TABS, start=1))
    lessons = [read_file(next(SHIPPED.glob("4-*.md"))), read(f"{FRONT_MATTER}\n{steps}", name="tabs")]
    write_folder(folder_files(lessons, pictures()), made)
    return made


def slider(page: Page) -> Locator:
    return page.locator(".tab").get_by_role("slider")


def shown(page: Page) -> Locator:
    """Find the sentence of the fragment that is shown."""
    return page.locator(".tab .still .verdict").first


def test_the_slider_of_a_leak_test_replaces_another_position(visit: Visit) -> None:
    page = visit(LEAK)
    expect(page.locator(".no-picture")).to_be_visible()
    expect(slider(page)).to_have_count(0)
    press(page, "Skip and show")
    expect(page.get_by_role("slider", name="Replace target token")).to_have_attribute("aria-valuetext", "4: rouge")
    expect(shown(page)).to_contain_text("the 4 positions before it are the same to the last bit")
    slider(page).press("ArrowRight")
    expect(slider(page)).to_have_attribute("aria-valuetext", "5: sa")
    expect(shown(page)).to_contain_text("the 5 positions before it are the same to the last bit")
    expect(page.locator(".tab .control [role=status]")).to_contain_text("the 5 positions before it are the same")
    slider(page).press("Home")
    expect(shown(page)).to_contain_text("There is no position before the first token.")
    expect(page.locator(".picture > .note")).to_contain_text("you can also type another token to put there.")


def test_a_cell_says_its_number_to_pointer_and_keyboard(visit: Visit) -> None:
    page = visit(LEAK)
    press(page, "Skip and show")
    cell = page.locator(".maps table").last.locator("tr").nth(2).locator("td").first
    cell.hover()
    reading = page.locator(".reading")
    expect(reading).to_have_text(f"max |Δ| without any mask · L0 · <bos:fr>: {cell.get_attribute('title')}")
    page.locator(".maps").press("ArrowUp")
    expect(reading).to_have_text("max |Δ| without any mask · embedding · <bos:fr>: 0, bitwise equal")
    page.locator(".maps").press("ArrowLeft")
    expect(reading).to_have_text("max |Δ| with the model's own mask · embedding · .: 0, bitwise equal")


def test_a_list_chooses_a_row_and_one_without_keys(visit: Visit) -> None:
    page = visit("tabs.html#2")
    rows = page.get_by_role("combobox", name="Row")
    rows.select_option(label="3: ' → aime")
    expect(page.locator(".fills caption")).to_contain_text("Row 3 under every fill.")
    rows.select_option("A row without keys: 2: t → '")
    expect(page.locator(".tab h4")).to_contain_text("Row 2 has no key left.")


def test_what_is_left_out_of_a_long_sentence_is_counted(visit: Visit) -> None:
    page = visit("tabs.html#6")
    rows = page.get_by_role("combobox", name="Row")
    expect(rows.locator("option:checked")).to_contain_text("40: ")
    expect(rows.locator("option")).to_have_count(32)
    expect(page.locator(".control .note")).to_have_text(LEFT_OUT.format(52))


def test_a_long_table_is_sorted_by_its_headings(visit: Visit) -> None:
    page = visit("tabs.html#7")
    press(page, "heads removed")
    removed = page.locator(".tab td:nth-child(2)").all_text_contents()
    assert removed == sorted(removed, key=float, reverse=True)
    expect(page.get_by_role("columnheader", name="heads removed")).to_have_attribute("aria-sort", "descending")
    press(page, "heads removed")
    assert page.locator(".tab td:nth-child(2)").all_text_contents() == sorted(removed, key=float)


def test_texts_of_a_link_stay_texts(visit: Visit) -> None:
    page = visit("tabs.html#5")
    for _ in range(3):
        expect(shown(page)).to_be_visible()
        assert page.locator(".picture img").count() == 0
        slider(page).press("ArrowRight")
    assert "<" in page.locator(".tab .maps th").all_text_contents()[-1] + page.locator(".tab").inner_text()


@pytest.mark.parametrize("step", range(1, len(TABS) + 1))
def test_every_tab_is_for_everybody_and_fits(visit: Visit, step: int) -> None:
    """On a laptop in light colours, and on a phone in dark ones, by turns."""
    options = {"color_scheme": "dark", **PHONE} if step % 2 else {}
    page = visit(f"tabs.html#{step}", **options)
    expect(page.locator(".tab .still").first).to_be_visible()
    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    assert page.evaluate(SERIOUS) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
