"""Images: tracing against the model's own pass, another patch in a browser, and the size of a file."""

import copy
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import torch
from playwright.sync_api import Page

import attnviz
from attnviz.models.example_images import draw_example
from attnviz.models.huggingface.images.image_model import ImageModel
from benchmarks.browser import WATCH, chromium_here
from benchmarks.report import Row
from benchmarks.timing import ratio, time_in_turn

ROUNDS, PATCHES = 15, 60
# Two frames later everything that a key has changed is drawn.
_PRESS = """(key) => new Promise((resolve) => {
  const spent = attnvizWatch.press(key);
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(spent)));
})"""


def rows() -> Iterator[Row]:
    """Measure a ViT-S with random weights on 224 x 224 pixels, in 196 patches."""
    torch.set_num_threads(1)  # as the dashboard has it
    bare, model = _models()
    image = draw_example("cat")
    pixels = model.reader.read(image).fields
    with torch.inference_mode():
        times = time_in_turn(
            {
                "bare": lambda: bare(**pixels),
                "processor": lambda: model.reader.processor(images=image, return_tensors="pt"),
                "trace": lambda: model.trace(image),
                "no hidden states": lambda: model.trace(image, hidden=False),
            },
            runs=ROUNDS,
            clock=time.process_time,
        )
    for name in ("trace", "no hidden states"):
        yield Row(f"{name} of an image against the bare sdpa pass, ViT-S", ratio(times[name], times["bare"]), "x", 1.1)
    yield Row("the bare sdpa pass", 1000 * median(times["bare"]), "ms")
    yield Row("the image processor alone", 1000 * median(times["processor"]), "ms")
    with tempfile.TemporaryDirectory() as folder:
        yield from _file(attnviz.picture("patches").of(model.trace(image)).to_html(Path(folder) / "image.html"))


def _models() -> tuple[Any, ImageModel]:
    """Make a ViT-S twice: for transformers' sdpa attention, and opened by attnviz."""
    import transformers

    config = transformers.ViTConfig(
        hidden_size=384, num_hidden_layers=12, num_attention_heads=6, intermediate_size=1536
    )
    bare = transformers.ViTModel(config, add_pooling_layer=False).eval()
    opened = attnviz.load(copy.deepcopy(bare), transformers.ViTImageProcessorPil())
    assert isinstance(opened, ImageModel)
    bare.set_attn_implementation("sdpa")
    return bare, opened


def _file(path: Path) -> Iterator[Row]:
    """Measure a file of 196 patches and 72 heads: its size, and keys that choose another patch."""
    yield Row("a file of 196 patches and 72 heads", path.stat().st_size / 1000, "kB", 400)
    with chromium_here() as browser:
        page = browser.new_context(offline=True, viewport={"width": 1440, "height": 900}).new_page()
        page.add_init_script(path=WATCH)
        page.goto(path.as_uri())
        page.evaluate("attnvizWatch.firstPicture()")
        handler, thread = _another_patch(page)
    yield Row("another patch: everything that the script does at once", handler, "ms", 16)
    yield Row("the same and the frame after it, the page's main thread, processor time", thread, "ms", 16)


def _another_patch(page: Page) -> tuple[float, float]:
    """Return the milliseconds of a key's handler (median), and of the page's main thread for a key (mean)."""
    told = page.context.new_cdp_session(page)
    told.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        return {one["name"]: one["value"] for one in told.send("Performance.getMetrics")["metrics"]}["TaskDuration"]

    keys = ["ArrowDown"] * 5 + ["ArrowRight"] * 6 + ["ArrowUp"] * 3 + ["ArrowLeft"] * 4
    for key in keys:
        page.evaluate(_PRESS, key)
    before, pressed = spent(), [page.evaluate(_PRESS, keys[at % len(keys)]) for at in range(PATCHES)]
    return median(pressed), 1000 * (spent() - before) / PATCHES
