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
    with tempfile.TemporaryDirectory() as folder:
        bare, model, in_memory = _models(Path(folder) / "vit-s")
        image, prepare = draw_example("cat"), model.reader.processor
        pixels = model.reader.read(image).fields
        tasks = {
            "bare": lambda: bare(**pixels),
            "processor and pass": lambda: bare(**prepare(images=image, return_tensors="pt")),
            "trace": lambda: model.trace(image),
            "trace without hidden states": lambda: model.trace(image, hidden=False),
            "trace by a model in memory, whose weights are read for their id": lambda: in_memory.trace(image),
        }
        with torch.inference_mode():
            times = time_in_turn(tasks, runs=ROUNDS, clock=time.process_time)
        for name in list(tasks)[1:]:
            target = 1.1 if name == "trace" else None
            yield Row(f"ViT-S, against the bare sdpa pass: {name}", ratio(times[name], times["bare"]), "x", target)
        yield Row("the bare sdpa pass", 1000 * median(times["bare"]), "ms")
        yield from _file(attnviz.picture("patches").of(model.trace(image)).to_html(Path(folder) / "image.html"))


def _models(folder: Path) -> tuple[Any, Any, Any]:
    """Make a ViT-S, and open it with attnviz from a folder and from memory."""
    import transformers

    sizes: dict[str, Any] = {
        "hidden_size": 384,
        "num_hidden_layers": 12,
        "num_attention_heads": 6,
        "intermediate_size": 1536,
    }
    bare, processor = transformers.ViTModel(transformers.ViTConfig(**sizes)).eval(), transformers.ViTImageProcessorPil()
    bare.save_pretrained(folder)
    processor.save_pretrained(folder)
    return bare, attnviz.load(folder, device="cpu"), attnviz.load(copy.deepcopy(bare), processor)


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
