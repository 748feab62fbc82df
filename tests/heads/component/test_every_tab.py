"""Each tab of the page Heads on a page of its own: labels, panes, and the caption of its file."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from attnviz.hosts.registry import PICTURES
from attnviz.models import catalogue
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from tests.browser.at_rest import lie_apart, wait_until_at_rest
from tests.browser.heads.tabs import every_label_is_defined, has_its_caption
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER
# What the caption of a tab's file names; other tabs draw no file.
CAPTIONS = {
    "heads": "Cross-attention, L1 H3",
    "links": "Cross-attention, L1 H3",
    "whole_model": "Cross-attention, every layer and head",
    "neuron": "Cross-attention, L1 H3",
}
TABS = [one.name for one in PICTURES.values() if one.page == "Heads" and "text" in one.inputs]
ASKED = {"kind": "cross", "layer": 1, "head": 3, "row": 1, "mini": "lines", "heads": "1.3"}
BOXES = """(panes) => panes.filter((pane) => pane.checkVisibility()).map((pane) => {
  const { x, y, width, height } = pane.getBoundingClientRect();
  return { x, y, width, height };
})"""  # all at one moment


@pytest.fixture(scope="module")
def model() -> Translator:
    return catalogue.translator()


@pytest.fixture(scope="module")
def trace(model: Translator) -> Trace:
    return model.trace("I love you.", to="fr", tgt_text="Je t'aime.")


@pytest.mark.parametrize(
    "name", [one.name for one in PICTURES.values() if one.page == "Heads" and "text" in one.inputs]
)
def test_its_labels_have_definitions_its_panes_lie_apart_and_its_file_has_a_caption(
    draw: Callable[..., Page], model: Translator, trace: Trace, name: str
) -> None:
    one = PICTURES[name]
    shown = one.of(**one.example(model, trace))
    shown = shown.with_fields(**{field: value for field, value in ASKED.items() if field in shown.subject.fields})
    page = draw(one, shown.payload(), color_scheme="dark")
    picture = page.locator("[data-attnviz-painted]")
    expect(picture).to_have_attribute("data-theme", "dark")
    every_label_is_defined(picture)
    if name in CAPTIONS:
        has_its_caption(page, CAPTIONS[name], "weights ")
    for width, height in ((1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        wait_until_at_rest(picture)
        boxes = picture.locator(".pane").evaluate_all(BOXES)
        lie_apart(boxes)
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes), boxes
