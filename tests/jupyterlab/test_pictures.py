"""Pictures in a real JupyterLab: Python reads each click, the picture shows each value set in Python, and nothing else
changes.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, expect

from tests.jupyterlab.lab import OpenNotebook

TRACE = """import attnviz
from attnviz.models.translator.tiny import tiny_translator
model = tiny_translator(seed=0, n_heads=3, n_layers=2)
trace = model.trace("machine learning is fun.", to="fr", tgt_text="un chien")
"""
HEADS = TRACE + 'w = attnviz.show(trace, kind="cross", layer=1, head=2)\nw'

Open = Callable[..., OpenNotebook]


def view(picture: Locator) -> dict[str, Any]:
    return json.loads(picture.get_attribute("data-attnviz-view") or "{}")


def expect_in_view(picture: Locator, **fields: Any) -> None:
    """Wait for the fields of what is painted; lists and texts as JSON writes them."""
    for name, value in fields.items():
        expect(picture).to_have_attribute(
            "data-attnviz-view", re.compile(re.escape(json.dumps({name: value}, separators=(",", ":"))[1:-1]))
        )


def test_a_click_is_read_in_python(open_notebook: Open) -> None:
    notebook = open_notebook("click.ipynb", HEADS, "w.head, w.row")
    notebook.run(0)
    picture = notebook.picture(0)
    expect_in_view(picture, kind="cross", layer=1, head=2)
    picture.get_by_role("tab", name="Encoder self").click()
    picture.locator("[data-site='encoder_self.0.1'], [aria-label*='L0 H1']").first.click()
    expect_in_view(picture, kind="encoder_self", layer=0, head=1)
    notebook.run_until(1, "(('encoder_self', 0, 1), None)")


def test_what_python_sets_is_seen(open_notebook: Open) -> None:
    notebook = open_notebook(
        "set.ipynb", HEADS, 'w.head = ("decoder_self", 0, 1)\nw.row = 2', 'w.view = {"specials": "hide"}'
    )
    notebook.run(0, 1)
    expect_in_view(notebook.picture(0), kind="decoder_self", layer=0, head=1, row=2)
    drawn = notebook.picture(0).get_attribute("data-attnviz-painted") or ""
    notebook.run(2)
    expect(notebook.picture(0)).not_to_have_attribute("data-attnviz-painted", drawn)
    expect_in_view(notebook.picture(0), kind="decoder_self", row=2, specials="hide")


def test_two_pictures_in_one_notebook_keep_to_themselves(open_notebook: Open) -> None:
    notebook = open_notebook("two.ipynb", HEADS, "attnviz.show.links(trace)", "w", "w.row = 1")
    notebook.run(0, 1, 2)
    notebook.picture(1).get_by_role("tab", name="Encoder self").click()
    expect_in_view(notebook.picture(1), kind="encoder_self")
    expect_in_view(notebook.picture(0), kind="cross")
    notebook.picture(0).get_by_role("tab", name="Decoder self").click()
    expect_in_view(notebook.picture(2), kind="decoder_self")  # the same picture again
    notebook.run(3)
    for at in (0, 2):
        expect_in_view(notebook.picture(at), kind="decoder_self", row=1)


def test_keys_are_the_picture_s_while_it_has_the_focus(open_notebook: Open) -> None:
    notebook = open_notebook("keys.ipynb", HEADS, "w.view['mask']")
    notebook.run(0)
    notebook.picture(0).locator("canvas").first.click()
    for key in "mbbdd":  # of JupyterLab: to Markdown, a cell below, twice; delete the cell
        notebook.page.keyboard.press(key)
    expect_in_view(notebook.picture(0), mask=True)
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    expect(notebook.page.locator(".jp-MarkdownCell")).to_have_count(0)
    notebook.run_until(1, "True")


def test_colours_follow_the_theme_of_the_notebook_or_the_reader_s(open_notebook: Open) -> None:
    notebook = open_notebook("theme.ipynb", HEADS, 'w.theme = "light"', "w.height = 700")
    notebook.run(0)
    picture = notebook.picture(0)
    expect(picture).to_have_attribute("data-theme", "light")
    notebook.page.get_by_role("menuitem", name="Settings").click()
    for entry in ("Theme", "JupyterLab Dark"):
        notebook.page.locator(".lm-Menu-itemLabel").get_by_text(entry, exact=True).click()
    expect(picture).to_have_attribute("data-theme", "dark")
    notebook.run(1)
    expect(picture).to_have_attribute("data-theme", "light")
    notebook.run(2)
    expect(picture).to_have_css("height", "700px")


def test_a_saved_picture_is_there_again_without_python(open_notebook: Open) -> None:
    notebook = open_notebook("saved.ipynb", HEADS, "attnviz.show(trace, static=True)")
    notebook.run(0, 1)
    notebook.picture(0).get_by_role("tab", name="Encoder self").click()
    expect_in_view(notebook.picture(0), kind="encoder_self")
    notebook.page.keyboard.press("Control+s")
    expect(notebook.page.locator(".jp-mod-dirty")).to_have_count(0)
    again = open_notebook("saved.ipynb")
    picture = again.picture(0)
    expect_in_view(picture, kind="encoder_self", layer=1, head=2)
    expect(picture.locator("[data-control=specials]").first).to_be_hidden()
    picture.get_by_role("tab", name="Cross").click()
    expect_in_view(picture, kind="cross")
    framed = again.cell(1).frame_locator("iframe").locator("[data-attnviz-painted]")
    expect_in_view(framed, kind="cross", layer=0, head=0)


def test_a_picture_outlives_its_kernel(open_notebook: Open) -> None:
    notebook = open_notebook("restart.ipynb", HEADS, "w.row")
    notebook.run(0)
    notebook.page.get_by_role("menuitem", name="Kernel", exact=True).click()
    notebook.page.locator(".lm-Menu-itemLabel").get_by_text("Restart Kernel…", exact=True).click()
    notebook.page.get_by_role("button", name="Confirm Kernel Restart").click()
    picture = notebook.picture(0)
    picture.get_by_role("tab", name="Encoder self").click()
    expect_in_view(picture, kind="encoder_self")
    expect(picture.locator("[data-control=specials]").first).to_be_hidden()
    notebook.run(0)
    expect_in_view(notebook.picture(0), kind="cross", layer=1, head=2)
