"""Images in a browser: chosen as a file, pasted and dropped; a brush on Masks, whose strokes run the model again."""

import base64
import re
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from attnviz.masks.masks import painting_of_text
from tests.models.huggingface.images.vision import files, processor, vision_model

GIVEN = """([type, name, content]) => {
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  const given = new DataTransfer();
  given.items.add(new File([bytes], name, { type: "image/png" }));
  const how = { bubbles: true, cancelable: true };
  const target = document.querySelector("[data-testid=stMain]");
  const made = type === "paste" ? new ClipboardEvent("paste", { ...how, clipboardData: given })
    : new DragEvent(type, { ...how, dataTransfer: given });
  return target.dispatchEvent(made);
}"""


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("images") / "vit"
    vision_model("vit").save_pretrained(place)
    processor("vit").save_pretrained(place)
    return str(place)


def chosen(page: Page, name: str) -> str:
    """Wait until a file is the chosen image, and return how the address names it."""
    expect(page.locator(".st-key-pick-image input")).to_have_value(name)
    expect(page).to_have_url(re.compile("image=own"))
    return parse_qs(urlsplit(page.url).query)["image"][0]


def test_an_image_is_chosen_pasted_and_dropped(page: Page, settle, seeing: str, tmp_path: Path) -> None:
    contents = {name: content for name, (content, _) in files().items()}
    page.goto("/heads?" + urlencode({"model": seeing, "image": "cat", "tab": "patches"}))
    settle(page)
    (tmp_path / "grey.png").write_bytes(contents["grey.png"])
    page.get_by_role("button", name="Your own image").click()
    page.locator(".st-key-own-image input[type=file]").set_input_files(tmp_path / "grey.png")
    names = {chosen(page, "grey.png")}
    page.keyboard.press("Escape")
    for acts, name in ((["paste"], "deep.png"), (["dragover", "drop"], "clear.png")):
        content = base64.b64encode(contents[name]).decode()
        for act in acts:
            assert not page.evaluate(GIVEN, [act, name, content]), f"the page does not take {act}"
        names.add(chosen(page, name))
    assert len(names) == 3
    settle(page)


def test_a_stroke_on_masks_hides_patches_and_runs_the_model_again(page: Page, settle, seeing: str) -> None:
    page.goto("/masks?" + urlencode({"model": seeing, "image": "boat"}))
    settle(page)
    words = page.locator(".hidden_patches .words")
    expect(words).to_contain_text("No patch is hidden.")
    canvas = page.locator(".hidden_patches canvas")
    box = canvas.bounding_box()
    assert box is not None
    y = box["y"] + 26 + 36 + 20  # inside the first row
    page.mouse.move(box["x"] + 20, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 4 + 0.33 * box["width"], y, steps=3)
    page.mouse.up()
    expect(words).to_contain_text("4 of 16 patches are hidden")
    expect(page).to_have_url(re.compile("hidden="))
    painted = painting_of_text(parse_qs(urlsplit(page.url).query)["hidden"][0])
    assert painted is not None
    assert painted.tolist() == [[False] * 4, [True] * 4, [True] * 4, [True] * 4]
    settle(page)
    page.get_by_role("button", name="Show all patches").click()
    expect(words).to_contain_text("No patch is hidden.")
