"""The picture Patches in a browser: clicks and keys choose a patch, a drag adds weights up, NumPy reads its file."""

import json

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

import attnviz
from attnviz.kit.bundle import source
from attnviz.patches import patches
from attnviz.patches.example import example_trace
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.bare_page import BarePage

pytestmark = NEEDS_A_BROWSER


@pytest.fixture
def bare(empty_page: Page) -> BarePage:
    shown = attnviz.picture("patches").of(example_trace(), layer=1, head=2)
    made = BarePage(empty_page, source(shown.picture.drawn_by), shown.payload())
    made.attach()
    return made


def view(bare: BarePage) -> dict:
    return json.loads(bare.root.get_attribute("data-attnviz-view"))


def first_patch(bare: BarePage) -> tuple[float, float]:
    """Return a place inside the first row of patches, which is below [CLS]."""
    box = bare.root.locator("canvas").bounding_box()
    assert box is not None
    return box["x"] + 40, box["y"] + 90


def test_a_click_and_keys_choose_a_patch_and_a_rectangle(bare: BarePage) -> None:
    attn = example_trace().attn("encoder_self", layer=1, head=2).numpy()
    bare.page.mouse.click(*first_patch(bare))
    assert view(bare)["at"] == 1
    for key, at in (("ArrowRight", 2), ("ArrowDown", 6), ("ArrowUp", 2), ("ArrowUp", 0), ("ArrowDown", 1)):
        bare.page.keyboard.press(key)
        assert view(bare)["at"] == at, key
    words = bare.root.locator(".words").inner_text()
    assert f"({attn[1].max():.4f})" in words
    assert f"{100 * attn[1, 0]:.1f}% of its weight goes to tokens that have no place" in words
    bare.page.keyboard.press("Shift+ArrowRight")
    bare.page.keyboard.press("Shift+ArrowDown")
    assert view(bare)["box"] == "0.1.0.1"
    total = attn[1, [1, 2, 5, 6]].sum()
    assert f"The rectangle of 2 × 2 patches gets {total:.4f} in total." in bare.root.locator(".words").inner_text()


def test_a_drag_is_a_rectangle_and_no_click(bare: BarePage) -> None:
    x, y = first_patch(bare)
    bare.page.mouse.move(x, y)
    bare.page.mouse.down()
    bare.page.mouse.move(x + 250, y + 140, steps=3)
    bare.page.mouse.up()
    top, bottom, left, right = map(int, view(bare)["box"].split("."))
    assert (top, left) == (0, 0)
    assert bottom >= 1
    assert right >= 1
    assert view(bare)["at"] == 0  # the end of a drag is no click


def test_numpy_reads_the_saved_map(bare: BarePage) -> None:
    attn = example_trace().attn("encoder_self", layer=1, head=2).numpy()
    bare.root.locator("summary").first.click()
    with bare.page.expect_download() as saved:
        bare.root.locator("[role=menuitem]", has_text="NPZ of the map").click()
    with np.load(saved.value.path()) as file:
        np.testing.assert_array_equal(file["attn"], attn)
        np.testing.assert_array_equal(file["weights"], attn[0])
        np.testing.assert_array_equal(file["image"], example_trace().sentences[0].images[0].array)
        assert file["places"].tolist()[:3] == [[-1, -1], [0, 0], [0, 1]]


def test_a_file_shows_every_head_from_the_chosen_token_and_says_what_it_lacks(empty_page: Page, monkeypatch) -> None:
    """As in a file of many tokens, which holds one whole map."""
    monkeypatch.setattr(patches, "_EXACT", 0)
    shown = attnviz.picture("patches").of(example_trace(), layer=1, head=2, at=5).without_python()
    made = BarePage(empty_page, source(shown.picture.drawn_by), shown.payload())
    made.attach()
    attn = example_trace().attn("encoder_self")
    rolled = torch.eye(13)
    for layer in attn:
        rolled = (0.5 * layer.mean(0) + 0.5 * torch.eye(13)) @ rolled
    words, title = made.root.locator(".words"), made.root.locator("h2")
    made.root.locator(".drawing").focus()

    def holds(site: str, weights: torch.Tensor) -> None:
        assert title.inner_text().startswith(site)
        assert f"({weights.max():.4f})" in words.inner_text()
        assert "rounded to one part in 65,535" in words.inner_text()

    holds("L1 H2", attn[1, 2, 5])
    made.page.keyboard.press("[")
    holds("L1 H1", attn[1, 1, 5])
    made.page.keyboard.press("t")
    holds("L1 H1", attn[1, 1, :, 5])
    made.page.keyboard.press("t")
    for name, expected in (("Mean of heads", attn[1].mean(0)[5]), ("Rollout", rolled[5])):
        made.root.get_by_role("button", name=name).click()
        holds({"Rollout": "Rollout up to L1"}.get(name, "L1, mean of heads"), expected)
    made.root.get_by_role("button", name="Head", exact=True).click()
    made.root.locator(".drawing").focus()
    made.page.keyboard.press("ArrowRight")
    assert words.inner_text().startswith(
        "These weights are not here. Only L1 H2 is here with the weights of all tokens"
    )
    made.page.keyboard.press("]")
    holds("L1 H2", attn[1, 2, 6])
