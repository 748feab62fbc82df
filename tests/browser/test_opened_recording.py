"""A translator's recording in a browser: opened from a file, scrubbed, a head of it large, and saved."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.test_learning import address_params, open_learning, run, wait_for_param
from tests.learning.translator import trained


def test_how_a_translator_learned_is_opened_scrubbed_looked_at_and_saved(page: Page, settle: Callable) -> None:
    shown = upload_recording(open_learning(page))
    expect(shown.locator(".thumb:visible")).to_have_count(3 * 2 * 3)
    expect(page.get_by_text("Train it yourself")).to_have_count(0)
    settle(page)
    page.get_by_role("slider", name="Moment of the training").focus()
    page.keyboard.press("End")
    expect(page.locator(".at")).to_have_text("update 6 of 6")
    expect(shown.locator(".curves")).to_have_attribute("aria-label", re.compile(r"After 6 updates: dev loss \d"))
    wait_for_param(page, "moment", "3")
    settle(page)
    page.get_by_role("button", name="The big cat sleeps.").click()
    shown.get_by_role("button", name="Cross-attention, L1 H2: open it large").click()
    expect(shown.locator(".maps-name")).to_contain_text("Cross-attention, L1 H2")
    expect(shown.locator(".maps-name")).to_contain_text("The big cat sleeps.")
    wait_for_param(page, "site", "cross.1.2")
    settle(page)
    assert address_params(page) == {"recording": "file", "moment": "3", "sentence": "1", "site": "cross.1.2"}
    check_files(page)
    page.get_by_role("button", name="Back to the experiments").click()
    expect(run(page, "No causal mask")).to_be_visible()
    settle(page)
    page.go_back()
    expect(page.get_by_text("a link cannot contain the file")).to_be_visible()


def upload_recording(page: Page) -> Locator:
    page.get_by_role("button", name="Open a recording").click()
    file = {"name": "learned.npz", "mimeType": "application/octet-stream", "buffer": trained.content()}
    page.locator("input[type=file]").set_input_files(file)
    shown = run(page, "A translator’s training")
    expect(shown).to_be_visible()
    page.keyboard.press("Escape")
    return shown


def check_files(page: Page) -> None:
    svg, curves, maps = (export(page, name) for name in ("SVG picture", "CSV of the curves", "CSV of the maps now"))
    assert "learned.npz" in svg
    assert "The big cat sleeps." in svg
    assert curves.splitlines()[0] == '"run","updates","dev_loss","bleu.fr","chrf.fr","bleu.zh","chrf.zh"'
    assert [line.split(",")[1] for line in curves.splitlines()[1:]] == ["0", "2", "4", "6"]
    labels = {line.split(",")[8] for line in maps.splitlines()[1:] if '"cross"' in line}
    assert {'"The"', '"big"'} <= labels


def export(page: Page, name: str) -> str:
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=name).click()
    return Path(download.value.path()).read_text(encoding="utf-8-sig")
