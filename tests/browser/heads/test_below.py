"""What the Heads page opens below its picture, own tensors beside a sentence, and pages whose halves are not empty."""

from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from tests.browser.at_rest import wait_until_at_rest
from tests.browser.heads.tabs import LINK, open_tab


def test_a_plotly_figure_that_is_asked_for_comes_into_view(page: Page, settle) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_tab(page, settle, LINK)
    page.locator("summary", has_text="Options").click()
    page.get_by_role("button", name="Plotly", exact=True).click()
    plot = page.locator(".st-key-map-figure .js-plotly-plot")
    expect(plot).to_be_in_viewport(ratio=0.95)
    page.get_by_role("button", name="Close").click()
    expect(plot).to_have_count(0)
    expect(page.locator("summary", has_text="Options")).to_have_text("Options")  # none of them is chosen


def test_a_table_that_is_asked_for_comes_into_view_and_a_link_to_one_scrolls_nowhere(page: Page, settle) -> None:
    open_tab(page, settle, LINK)
    page.locator("summary", has_text="Options").click()
    page.get_by_role("group").get_by_role("button", name="Table", exact=True).click()
    table = page.locator(".st-key-below-table [data-testid=stDataFrame]")
    expect(table).to_be_in_viewport(ratio=0.95)
    page.wait_for_url("**table=1**")
    page.reload()
    settle(page)
    expect(table).to_be_visible()
    expect(page.locator(".focus h2")).to_be_in_viewport()


def test_own_tensors_are_told_from_the_sentence_in_the_bar(page: Page, settle, tmp_path: Path) -> None:
    open_tab(page, settle, LINK)
    np.savez(tmp_path / "my *own*.npz", attn=np.full((2, 3, 2, 2), 0.5, np.float32), tokens=np.array(["x", "y"]))
    page.get_by_role("button", name="Your own tensors").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "my *own*.npz")
    said = page.get_by_text("The picture shows your own tensors from my *own*.npz, not the sentence in the bar above.")
    expect(said).to_be_visible()
    bar = page.locator(".st-key-top-bar")
    expect(bar).to_have_css("opacity", "0.45")
    page.get_by_role("button", name="Back to the sentence").click()
    expect(said).to_have_count(0)
    expect(bar).to_have_css("opacity", "1")
    expect(page.locator("[data-attnviz-painted]")).to_contain_text("love")


LOWEST = """(root, names) => Math.max(...names.flatMap((name) => [...root.querySelectorAll(name)])
  .filter((node) => node.offsetHeight).map((node) => node.getBoundingClientRect().bottom))"""


# How far down the parts of a tab's picture reach: the least share of its height.
REACHED = {
    "links": {".square": 0.7, ".link-token": 0.7, ".link-list li": 0.7},
    "neuron": {".step-value": 0.75},
    "model": {".head-cell": 0.7},
}


def test_no_half_of_the_screen_is_empty(page: Page, settle) -> None:
    for tab, panes in REACHED.items():
        picture = open_tab(page, settle, f"{LINK}&tab={tab}")
        for width, height in ((1440, 900), (1280, 720)):
            page.set_viewport_size({"width": width, "height": height})
            wait_until_at_rest(picture)
            box = picture.bounding_box()
            for name, share in panes.items():
                reached = (picture.evaluate(LOWEST, [name]) - box["y"]) / box["height"]
                assert share <= reached, (name, reached, width)
