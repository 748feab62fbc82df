"""A picture's script in a cell: the host of attnviz/kit/js/hosts/notebook.js, without a notebook."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import attnviz
from attnviz.models.translator.tiny import tiny_translator
from tests.browser.at_rest import wait_in_page
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.hosts.notebook import cell
from tests.hosts.notebook.cell import Cells

pytestmark = NEEDS_A_BROWSER


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0, n_heads=3, n_layers=2).trace("machine learning", to="fr", tgt_text="un chien")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page; what its scripts raise fails the test."""
    page, errors = browser.new_page(), []
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert errors == []


def expect_in_view(picture: Locator, **fields: Any) -> None:
    for name, value in fields.items():
        text = json.dumps({name: value}, separators=(",", ":"))[1:-1]
        expect(picture).to_have_attribute("data-attnviz-view", re.compile(re.escape(text)))


@pytest.mark.parametrize("name", ["heads", "links"])
def test_what_is_chosen_in_one_cell_is_told_and_seen_in_the_other(name: str, page: Page, trace) -> None:
    cells = Cells(page, attnviz.show(trace) if name == "heads" else attnviz.show.links(trace))
    expect_in_view(cells.picture(1), kind="cross")
    cells.picture(0).get_by_role("tab", name="Encoder self").click()
    assert cells.told()["kind"] == "encoder_self"
    expect_in_view(cells.picture(1), kind="encoder_self")
    cells.picture(1).get_by_role("tab", name="Decoder self").click()
    assert cells.told()["kind"] == "decoder_self"
    expect_in_view(cells.picture(0), kind="decoder_self")


def test_what_python_sets_is_seen_but_for_what_the_reader_chose_after_it(page: Page, trace) -> None:
    widget = attnviz.show(trace)
    cells = Cells(page, widget)
    cells.set("_told", {**widget.view, "layer": 1, "head": 2, "seq": 0})
    expect_in_view(cells.picture(0), layer=1, head=2)
    cells.picture(0).get_by_role("tab", name="Encoder self").click()
    cells.told()
    cells.set("_told", {**widget.view, "row": 1, "seq": 0})
    expect_in_view(cells.picture(0), kind="encoder_self", row=None)


def test_a_saved_view_is_opened_again(page: Page, trace) -> None:
    widget = attnviz.show(trace)
    cells = Cells(page, widget, told={**widget.view, "kind": "encoder_self", "head": 2, "seq": 7})
    expect_in_view(cells.picture(0), kind="encoder_self", head=2, seq=7)


def test_theme_and_height_are_the_reader_s(page: Page, trace) -> None:
    cells = Cells(page, attnviz.show(trace))
    expect(cells.picture()).to_have_attribute("data-theme", "light")
    expect(cells.picture()).to_have_css("height", "540px")
    page.emulate_media(color_scheme="dark")
    expect(cells.picture()).to_have_attribute("data-theme", "dark")
    cells.set("theme", "light")
    expect(cells.picture()).to_have_attribute("data-theme", "light")
    cells.set("height", 700)
    expect(cells.picture()).to_have_css("height", "700px")


def test_plain_keys_are_the_picture_s_and_others_the_notebook_s(page: Page, trace) -> None:
    cells = Cells(page, attnviz.show(trace))
    cells.picture().locator("canvas").first.click()
    for key, is_kept in (("m", True), ("Control+b", False), ("j", True)):
        page.keyboard.press(key)
        marked = page.locator(".cell").first.locator("[data-lm-suppress-shortcuts]")
        expect(marked).to_have_count(int(is_kept))
    expect_in_view(cells.picture(), mask=True)
    page.evaluate("() => cell.end()")


def test_controls_that_only_python_answers_go_while_it_does_not(page: Page, trace) -> None:
    cells = Cells(page, attnviz.show.links(trace))
    expect(cells.picture().get_by_role("tab", name="Cross")).to_be_visible()
    page.evaluate("() => { cell.isAnswering = false; }")
    cells.picture().get_by_role("tab", name="Encoder self").click()
    expect(cells.picture().get_by_role("tab", name="Cross")).to_be_hidden()


def test_the_caption_before_a_picture_goes_once_it_is_drawn(page: Page, trace, monkeypatch) -> None:
    shown: list[dict] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, **_: shown.append(bundle))
    widget = attnviz.show(trace)
    widget._ipython_display_()
    caption, picture = shown
    assert "machine learning" in caption["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in picture
    assert "text/html" not in picture, "GitHub would show the caption twice"
    monkeypatch.setattr("tests.hosts.notebook.cell.PAGE", caption["text/html"] + cell.PAGE)
    Cells(page, widget).picture().wait_for()
    expect(page.locator(f".{widget._caption_class}")).to_be_hidden()


@pytest.mark.parametrize("name", ["heads", "links"])
def test_a_static_picture_of_a_narrow_cell_is_as_high_as_it_has_to_be(name: str, page: Page, trace) -> None:
    made = attnviz.show(trace, static=True) if name == "heads" else attnviz.show.links(trace, static=True)
    page.goto("about:blank")
    page.set_content(f'<body style="width: 390px">{made._repr_html_()}')
    root = page.frame_locator("iframe").locator(":root")
    page.frame_locator("iframe").locator("[data-attnviz-painted]").wait_for()
    page.wait_for_function("() => document.querySelector('iframe').clientHeight > 700")
    wait_in_page(page, 300)
    assert root.evaluate("(node) => node.scrollHeight - innerHeight") == 0
    assert root.evaluate("(node) => node.scrollWidth - innerWidth") <= 0


def test_a_static_picture_is_drawn_in_its_frame(page: Page, trace) -> None:
    page.goto("about:blank")
    page.set_content(f'<body style="width: 1200px">{attnviz.show(trace, static=True, height=500)._repr_html_()}')
    picture = page.frame_locator("iframe").locator("[data-attnviz-painted]")
    picture.get_by_role("tab", name="Encoder self").click()
    expect_in_view(picture, kind="encoder_self")
    expect(page.locator("iframe")).to_have_css("height", "500px")
    wait_in_page(page, 400)  # a choice is told 250 ms after it was made, and there is no address to write it into
