"""Long work on a page gives way between two passes of the model: each work that draws its own bar, or none."""

from types import SimpleNamespace

import pytest

from attnviz.analysis.causes import gold
from attnviz.analysis.causes.baselines import means as measured
from attnviz.models.translator.tiny import tiny_translator
from attnviz.ui import hosting
from attnviz.ui.cache import means
from attnviz.ui.heads import alignment_bar
from attnviz.ui.masks import streaming

STEPS = 3


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
    streaming.drawn_while_written(bench, lambda: None)


WORKS = {
    "mean contexts": lambda model: means.means(model, "fr", lambda _share, _what: None),
    "mean contexts without a bar": lambda model: means.means(model, "zh"),
    "alignment errors": lambda model: alignment_bar.compute_rates(model, "fr", "fr"),
    "writing under a mask": write_under_a_mask,
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_a_long_work_gives_way_between_two_steps(monkeypatch, work) -> None:
    model, queue = tiny_translator(n_heads=2, n_layers=2), LongHeld()
    lines, pairs = measured.reference_lines(model, "fr")[:STEPS], gold.gold_pairs("fr")[:STEPS]
    monkeypatch.setattr(measured, "reference_lines", lambda *_: lines)
    monkeypatch.setattr(gold, "gold_pairs", lambda _: pairs)
    hosting.use(hosting.Hosting(queue, str, lambda _: False))
    try:
        work(model)
    finally:
        hosting.use(None)
    assert queue.count >= STEPS - 1
