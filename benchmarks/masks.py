"""The cost of an edited mask: one site's numbers and the model's re-run on the server, and the wait of a visitor."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page

from attnviz.analysis.fills import FillChoice, FilledScores, Weighing, fill_scores, one_head
from attnviz.analysis.mask_spec import MaskSpec
from attnviz.masks.numbers.effect import effect
from attnviz.masks.numbers.findings import findings
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from benchmarks.browser import chromium_here, open_page
from benchmarks.model import text_of, translator
from benchmarks.report import Row
from benchmarks.timing import median, time_in_turn
from tests.browser.server import dashboard

RUNS = {16: 15, 256: 5}
EDITS, WARM_UP = 9, 3
PARTS = (
    ("a cell painted and redrawn", "atOnce", 150),
    ("the same with torch's numbers", "picture", 150),
    ("the same with the model run again, its first words", "words", 400),
    ("the same with all that it says", "text", None),
)
SITE, HEAD = Site("decoder_self", 1), 3


def rows() -> Iterator[Row]:
    """Measure the server's share, then the same in a browser of 1440x900."""
    yield from _server()
    yield from _browser()


def _server() -> Iterator[Row]:
    """Measure a causal mask, -inf, at one head, without Streamlit and the browser; the target is the model's own."""
    model = translator()
    for length, runs in RUNS.items():
        trace = model.trace(text_of(length), to=model.languages[0])
        call, recipe, choice = one_head(trace.call(SITE.kind, SITE.layer), HEAD), MaskSpec({"causal": ()}), FillChoice()

        def edit(call=call, recipe=recipe, choice=choice) -> None:
            size = call.query.shape[2]
            one = fill_scores(call, recipe.build(size, size), choice)
            assert one.attn is not None  # -inf is refused nowhere
            findings(FilledScores(choice, one.mask[0, 0], one.scores[0, 0], one.masked_scores[0, 0], one.attn[0, 0]))

        probe = MaskOverride([SITE], recipe.build, head=HEAD, weigh=Weighing(choice))

        def again(trace=trace, probe=probe) -> None:
            effect(model, trace, probe)

        seconds = time_in_turn({"edit": edit, "again": again}, runs=runs, warm_up=1)
        yield Row(f"mask edit at one site, {length} tokens in", 1e3 * median(seconds["edit"]), "ms", 150)
        yield Row(f"re-run under the mask, {length} tokens in", 1e3 * median(seconds["again"]), "ms", 400)


def _browser() -> Iterator[Row]:
    """Hide cells of the encoder's map with the Space key, and measure from the key to the frame that shows it.

    A long text is written piece by piece: its first words stand for the run, its last for the text.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        dashboard(Path(folder) / "log") as address,
        chromium_here() as browser,
    ):
        for length in RUNS:
            query = {"src": text_of(length), "to": "fr", "kind": "encoder_self", "layer": 1, "head": 3}
            page = open_page(browser, f"{address}/masks?{urlencode(query)}")
            times = [_painting(page) for _ in range(WARM_UP + EDITS)][WARM_UP:]
            page.context.close()
            for name, part, aim in PARTS:
                yield Row(f"{name}, {length} tokens in, p50", median(time[part] for time in times), "ms", aim)


def _painting(page: Page) -> dict[str, float]:
    """Walk to the next cell of the diagonal and hide it, after a person's pause."""
    canvas = page.locator(".lab canvas")
    canvas.focus()
    canvas.press("ArrowDown")
    canvas.press("ArrowRight")
    page.wait_for_timeout(300)
    page.evaluate("attnvizWatch.fromKey(' ')")
    canvas.press("Space")
    return page.evaluate("attnvizWatch.result")
