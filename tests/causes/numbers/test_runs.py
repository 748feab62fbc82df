"""Changed runs in batches: the batch size changes no number, and progress is reported after each batch."""

import torch

from attnviz.analysis import runs
from attnviz.causes.numbers.effects import head_effects


def test_runs_in_lots_are_the_runs_at_once_and_tell_how_far_they_are(model, monkeypatch) -> None:
    trace = model.trace("I love fun.", to="fr")
    told: list[tuple[int, int]] = []
    whole = head_effects(model, trace, tell=lambda *how_far: told.append(how_far))
    heads = len(whole.places)
    assert told == [(heads, heads)]
    sentence = trace.sentences[0]
    monkeypatch.setattr(runs, "_MOST_TOKENS", 3 * (len(sentence.src) + len(sentence.tgt)))
    told.clear()
    in_lots = head_effects(model, trace, tell=lambda *how_far: told.append(how_far))
    assert told == [(0, heads), *((min(first + 3, heads), heads) for first in range(0, heads, 3))]
    torch.testing.assert_close(in_lots.after, whole.after, atol=1e-5, rtol=0)
