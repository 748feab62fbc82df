"""The cost of Causes: every head ablated, patched, attributed, on one thread, a sentence of 13 tokens; then a head
switched off in a browser.

Aims are compared with processor time, which other programs on the machine hardly change; wall-clock time stands beside
it.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from playwright.sync_api import Page

from attnviz.analysis.attribution import LogitTarget, attribution
from attnviz.analysis.peak_memory import peak_memory
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.causes.numbers.effects import head_effects, translations_without
from attnviz.causes.numbers.pair import LogitDifference
from attnviz.causes.numbers.patching import patched_heads, patched_stream
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from benchmarks import causes_peers
from benchmarks.browser import chromium_here, open_page
from benchmarks.model import sentences_of, translator
from benchmarks.report import Row
from tests.browser.server import dashboard

LENGTH, RUNS, WARM_UP = 13, 9, 2
SWITCHED, SWITCHED_WARM_UP = 20, 3  # heads, each switched off in a browser


def rows() -> Iterator[Row]:
    """Measure each question by itself, the three matrices of a pair together, and the page."""
    model = translator()
    clean, changed, metric = _pair(model)
    maps = residual_maps(model, clean)
    assert isinstance(maps, ResidualMaps)  # our own translator is pre-norm
    heads = sum(layers * count for layers, count in model.shapes.values())

    def matrices() -> None:
        patched_heads(model, clean, changed, metric)
        for stack in ("encoder", "decoder"):
            patched_stream(model, clean, changed, metric, stack=stack)

    tasks: tuple[tuple[str, Callable[[], object], float | None], ...] = (
        (f"all {heads} single ablations", lambda: head_effects(model, clean), 250),
        (f"{heads} greedy translations, each without a head", lambda: translations_without(model, clean), 350),
        ("a patching matrix of every head", lambda: patched_heads(model, clean, changed, metric), 120),
        ("a patching matrix of layers x source tokens",
         lambda: patched_stream(model, clean, changed, metric, stack="encoder"), 80),
        ("all matrices of a pair", matrices, 800),
        ("attribution of one logit", lambda: attribution(maps, clean, LogitTarget(metric.step, metric.a)), 30),
        ("what attribution goes through, found once", lambda: residual_maps(model, clean), None),
    )  # fmt: skip
    for name, task, aim in tasks:
        yield Row(f"{name}, {LENGTH} tokens, processor time", _milliseconds(task), "ms", aim)
    used = peak_memory(lambda: patched_heads(model, clean, changed, metric)).peak
    yield Row("memory of a patching matrix of every head", used / 1e6, "MB", 30)
    yield from _page()
    yield from causes_peers.rows()


def _pair(model: Translator) -> tuple[Trace, Trace, LogitDifference]:
    """Trace a sentence, and the same with another word and the first one's target; choose the tokens whose lead differs
    most.
    """
    text = next(text for text in sentences_of(LENGTH, to="fr") if "red" in text)
    clean = model.trace(text, to="fr")
    changed = model.trace(text.replace("red", "black"), to="fr", tgt_text=clean.tgt_text)
    assert clean.logits is not None
    assert changed.logits is not None
    lead = clean.logits[0] - changed.logits[0]
    step = int((lead.amax(dim=1) - lead.amin(dim=1)).argmax())
    return clean, changed, LogitDifference(step, int(lead[step].argmax()), int(lead[step].argmin()))


def _milliseconds(task: Callable[[], object]) -> float:
    """Measure the median of a task's processor time."""
    times = []
    for _ in range(WARM_UP + RUNS):
        started = time.process_time()
        task()
        times.append(time.process_time() - started)
    return 1e3 * median(times[WARM_UP:])


def _page() -> Iterator[Row]:
    """Switch each head off by itself, and on again before the next, on one warm server."""
    text = next(sentences_of(LENGTH, to="fr"))
    with (
        tempfile.TemporaryDirectory() as folder,
        dashboard(Path(folder) / "log") as address,
        chromium_here() as browser,
    ):
        page = open_page(browser, f"{address}/causes?{urlencode({'src': text, 'to': 'fr'})}")
        times = [_switch_off(page, at) for at in range(SWITCHED + SWITCHED_WARM_UP)][SWITCHED_WARM_UP:]
        name = f"a head switched off until its translation is painted, {LENGTH} tokens, p50"
        yield Row(name, median(times), "ms", 200)
        page.context.close()


def _switch_off(page: Page, at: int) -> float:
    """Switch a head off and on again; return the milliseconds until the new translation is painted."""
    page.wait_for_function("attnvizWatch.idle()")
    page.locator(".switch").nth(3 * at).focus()
    page.evaluate("attnvizWatch.fromKey('Enter')")
    page.keyboard.press("Enter")
    took = page.evaluate("attnvizWatch.result")["picture"]
    page.keyboard.press("Escape")
    page.locator(".switch[aria-checked=false]").first.wait_for(state="detached")
    page.wait_for_function("attnvizWatch.idle() && !attnvizWatch.root().querySelector('[data-waits]')")
    return took
