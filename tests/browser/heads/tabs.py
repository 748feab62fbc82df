"""What tests of the Heads page's tabs share: a link, how it is opened, what is in view then, and what is saved."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import Locator, Page, expect

from attnviz.kit.glossary import definitions

LINK = "/heads?src=I+love+you.&to=fr&tgt=Je+t%27aime.&kind=cross&layer=1&head=3"
# What stands on controls, or tells a hand what to do: a file has neither.
OF_CONTROLS = re.compile(r"up to 4|\bdrag\b|\bclick|in focus|not pinned|arrow key|zoom|thumbnail|Enter", re.IGNORECASE)
TEXTS = "{http://www.w3.org/2000/svg}text"
# Words that say all that there is to say: names of heads and of spans, plain English, and what a press does.
PLAIN = {
    "none", "All", "None", "? help", "zoom in", "zoom out", "whole map", "×", "+ Pin", "Unpin", "mean", "automatic",
    "text", "?",
}  # fmt: skip
# Where a cell of the large map is on the screen.
CELL = """(root, [row, col]) => {
  const { x, y, cell } = root.attnviz.tiles[0].geometry;
  const box = root.attnviz.parts.overlay.getBoundingClientRect();
  return [box.x + x + (col + 0.5) * cell.w, box.y + y + (row + 0.5) * cell.h];
}"""
# Each control that is seen: its words, the term that it asks for, and the names in its list.
CONTROLS = """(root) => [...root.querySelectorAll("button, select, summary, .term")]
  .filter((node) => node.offsetWidth && node.checkVisibility())
  .map((node) => ({
    text: (node.tagName !== "SELECT" && node.textContent.replace(" ▾", "")) || node.getAttribute("aria-label"),
    term: node.closest("[data-term]")?.dataset.term ?? null,
    options: node.tagName === "SELECT" ? [...node.options].map(({ text }) => text) : [],
    heard: node.getAttribute("aria-description") ?? "",
  }))"""


def open_tab(page: Page, settle, link: str):
    """Open a link, and return the picture of its tab."""
    page.goto(link)
    settle(page)
    picture = page.locator("[data-attnviz-painted]")
    expect(picture).to_be_visible()
    return picture


def chosen_view(picture) -> dict:
    """Read what the component says is chosen."""
    return json.loads(picture.get_attribute("data-attnviz-view"))


def definition(term: str) -> str:
    """Read what the term means on this page, in capitals or not."""
    return {name.lower(): text for name, text in definitions("Heads").items()}[term.lower()]


def is_a_name(text: str) -> bool:
    """Check whether a text names a head, a layer, a row, a token, or a number of either."""
    return (text[:1] in {"L", "H"} and text[1:2].isdigit()) or re.match(r"\d+: ", text) is not None


def every_label_is_defined(picture: Locator) -> None:
    """Require a definition for each control in sight that could stop a student."""
    found = picture.evaluate(CONTROLS)
    assert len(found) >= 6
    for control in found:
        is_defined(control)


def is_defined(control: dict) -> None:
    if control["text"] in PLAIN or is_a_name(control["text"]):
        return
    assert control["term"], f"{control['text']} has no definition"
    assert definition(control["term"]) in control["heard"], control
    for option in control["options"]:
        assert option in PLAIN or is_a_name(option) or definition(option)


def export(page: Page, item: str) -> Path:
    page.locator("summary", has_text="Export").first.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).first.click()
    return download.value.path()


def texts(path: Path) -> list[str]:
    drawn = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return [re.sub("[\u2068\u2069]", "", node.text or "") for node in drawn.iter(TEXTS)]


def has_its_caption(page: Page, site: str, model: str = "translator en→de·es·fr·zh, weights ") -> None:
    told = texts(export(page, "SVG"))
    sentence, about = told.index(next(text for text in told if text.startswith("I love you. → Je "))), told[-1]
    assert sentence >= len(told) - 3, "the caption is the last that is drawn"
    caption = " ".join(told[sentence:])
    assert site in caption
    assert model in caption, about
    assert not [text for text in told if OF_CONTROLS.search(text)]
