"""Long work on a page gives way between two passes of the model: each work that draws its own bar, or none."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st

from attnviz.analysis import means as measured
from attnviz.anatomy.implementations.page import bugs
from attnviz.anatomy.implementations.page.state import ImplementationsState
from attnviz.anatomy.page import experiment as site_module
from attnviz.anatomy.page.experiment import SiteExperiment, SiteState
from attnviz.app import hosting, progress
from attnviz.app.cache import pictures, traces
from attnviz.app.frame.page import Page
from attnviz.app.request import Request
from attnviz.causes.compared.compared import CompareState
from attnviz.causes.page import sides
from attnviz.heads.alignment.numbers import gold
from attnviz.heads.page import alignment_bar
from attnviz.masks.masks import MasksState
from attnviz.masks.page import experiment
from attnviz.models.catalogue import Entry
from attnviz.models.translator.tiny import tiny_translator

STEPS, TOKENS = 3, 5
REQUEST = Request(Entry("tiny", Path(), "tiny", ("fr", "zh")), "I love you", "fr")


class LongHeld:
    """A queue in which this run has had its turn for long; `count` says how often it gave way."""

    has_turn, is_over, held_seconds, count = True, False, 60.0, 0

    def take(self, _address: str, _tell: hosting.Tell) -> None:
        self.count += 1

    def give_back(self) -> float:
        return 0.0


class WritesThreePieces:
    """A text that is whole after three pieces."""

    pieces = 0

    @property
    def done(self) -> bool:
        return self.pieces == STEPS

    def go_on(self, _seconds: float) -> None:
        self.pieces += 1


def write_under_a_mask(model) -> None:
    writing = WritesThreePieces()
    bench = SimpleNamespace(model=model, start_writing=lambda: writing, unmasked_writing=lambda: writing)
    experiment.drawn_while_written(bench, lambda: None)


def compare_under_a_mask(model) -> None:
    view, trace = CompareState(by="mask", rule="causal", kind="decoder_self"), model.trace(REQUEST.src, to="fr")
    sides.run_both(view, REQUEST, model, trace)


def put_a_bug_into_the_model(model) -> None:
    trace, view = model.trace(REQUEST.src, to="fr"), ImplementationsState(kind="cross", bug="no_scale")
    bugs._effect_in_model((), SiteExperiment(REQUEST, trace, trace, trace, view), view)


def run_two_sentences_under_a_mask(model) -> None:
    view = MasksState(kind="decoder_self", rules=(("causal", ()),), second="machine learning is fun")
    bench = experiment.mask_experiment(REQUEST, model.trace(REQUEST.src, to="fr"), view)
    bench.effect()
    bench.written_up_to(0)


def run_two_sentences_at_a_site(model) -> None:
    view = SiteState(kind="cross", second="machine learning is fun")
    site_module._site_experiment(REQUEST, model.trace(REQUEST.src, to="fr"), view)


WORKS = {  # and how often it gives way, at the least
    "mean contexts": (lambda model: traces.measured_means(model, "fr", lambda _share, _what: None), STEPS - 1),
    "mean contexts without a bar": (lambda model: traces.measured_means(model, "zh"), STEPS - 1),
    "alignment errors": (lambda model: alignment_bar.compute_rates(model, "fr", "fr"), STEPS - 1),
    "writing under a mask": (write_under_a_mask, STEPS - 1),
    "comparing under a mask": (compare_under_a_mask, TOKENS),
    "a bug in the model": (put_a_bug_into_the_model, 2 * TOKENS),
    "two sentences under a mask": (run_two_sentences_under_a_mask, 4),
    "two sentences at a site": (run_two_sentences_at_a_site, 2),
}


@pytest.mark.parametrize(("work", "least"), WORKS.values(), ids=WORKS)
def test_a_long_work_gives_way_between_two_steps(monkeypatch, work, least) -> None:
    model, queue = tiny_translator(n_heads=2, n_layers=2), LongHeld()
    page = Page()
    page.above = st.container()
    monkeypatch.setattr(progress, "current_page", lambda: page)
    monkeypatch.setattr(traces, "model", lambda *_: model)
    for cache in (pictures._made, experiment._again, experiment._batches, site_module._pairs):
        cache.forget(lambda _: True)
    lines, pairs = measured.reference_lines(model, "fr")[:STEPS], gold.gold_pairs("fr")[:STEPS]
    monkeypatch.setattr(measured, "reference_lines", lambda *_: lines)
    monkeypatch.setattr(gold, "gold_pairs", lambda _: pairs)
    hosting.use(hosting.Hosting(queue, str, lambda _: False))
    try:
        work(model)
    finally:
        hosting.use(None)
    assert queue.count >= least
