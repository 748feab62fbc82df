"""The picture Patches in a browser: clicks and keys choose a patch, a drag adds weights up, NumPy reads its file."""

import json

import numpy as np
import pytest
from playwright.sync_api import Page

import attnviz
from attnviz.kit.bundle import source
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
