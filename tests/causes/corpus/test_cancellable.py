"""Every loop over passes of a model reports between any two of them: there a server lets other visitors go first."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from attnviz.analysis import means, runs
from attnviz.analysis.attribution import LogitTarget, drops
from attnviz.analysis.cancellable import Cancellable
from attnviz.causes.numbers.effects import head_effects
from attnviz.causes.numbers.lens import encoder_lens, logit_lens
from attnviz.causes.numbers.pair import written_under
from attnviz.decoding.numbers.tolerance import tolerance
from attnviz.heads.alignment.numbers import alignment_errors
from attnviz.heads.alignment.numbers.gold import gold_pairs
from attnviz.masks.numbers.leakage import leak_test
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Stepper

LOOPS: dict[str, Callable[[Translator, Trace, Cancellable], object]] = {
    "leak test": lambda model, trace, work: leak_test(model, trace, 1, trace.sentences[0].tgt[2], work=work),
    "logit lens": lambda model, trace, work: logit_lens(model, trace, work=work),
    "encoder's lens": lambda model, trace, work: encoder_lens(model, trace, model.model.embedding.weight, work=work),
    "drops of a logit": lambda model, trace, work: drops(model, trace, LogitTarget(1, 20), tell=work.tell),
    "effects of heads": lambda model, trace, work: head_effects(model, trace, tell=work.tell),
    "tolerance": lambda model, trace, work: tolerance(trace, lambda probe: model.rerun(trace, probe), work=work),
    "alignment errors": lambda model, _, work: alignment_errors.alignment_errors(
        model, {"fr": gold_pairs("fr")[:3]}, progress=lambda _: work.tell(0, 1)
    ),
    "writing": lambda model, trace, work: written_under(model, trace, tell=work.tell),
    "mean contexts": lambda model, _, work: means.measured_means(model, "fr", stop=work),
}


@pytest.fixture(scope="module")
def model() -> Translator:
    return tiny_translator(n_heads=2, n_layers=2)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_loop_reports_between_any_two_passes(model: Translator, monkeypatch, loop) -> None:
    trace = model.trace("I love fun.", to="fr")
    monkeypatch.setattr(runs, "_MOST_COPIES", 2)
    lines = means.reference_lines(model, "fr")[:3]
    monkeypatch.setattr(means, "reference_lines", lambda *_: lines)
    events: list[str] = []
    monkeypatch.setattr(Stepper, "step", _noting(events, Stepper.step))
    for name in ("trace", "rerun", "logits_under"):
        monkeypatch.setattr(model, name, _noting(events, getattr(model, name)))
    loop(model, trace, Cancellable(lambda _done, _total: events.append("told")))
    looping = events[events.index("told") :]  # after what is found once, before the loop
    assert "pass" in looping
    assert ("pass", "pass") not in set(pairwise(looping))


def _noting(events: list[str], compute: Callable) -> Callable:
    """Note each call as a pass, unless it is a part of another pass: a trace steps through what it writes."""

    def compute_noted(*given, **options):
        if events and events[-1] == "begun":
            return compute(*given, **options)
        events.append("begun")
        try:
            return compute(*given, **options)
        finally:
            events[-1] = "pass"

    return compute_noted
