"""All single-head ablations in a few passes are those that one run each gives."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis import runs
from attnviz.causes.numbers.effects import head_effects, reference_effects, translations_without


def ablate_head(model, trace, place, to="zero"):
    kind, layer, head = place
    return [*trace.interventions, attnviz.ablate(kind, layer=layer, heads=[head], to=to)]


def log_probabilities(trace):
    ids = torch.tensor([[token.id] for token in trace.sentences[0].tgt_out])
    return trace.logits[0].log_softmax(dim=-1).gather(1, ids)[:, 0]


@pytest.mark.parametrize("to", ["zero", "uniform", "mean"])
def test_every_head_at_once_is_each_by_itself(to, model, clean, make_trace) -> None:
    to = attnviz.mean_contexts(model, [clean]) if to == "mean" else to
    effects = head_effects(model, clean, to=to)
    assert len(effects.places) == len(set(effects.places)) == 45
    torch.testing.assert_close(effects.before, log_probabilities(clean))
    for place in effects.places[::11]:
        alone = make_trace(clean.src_text, *ablate_head(model, clean, place, to))
        found = effects.after[effects.places.index(place)]
        torch.testing.assert_close(found, log_probabilities(alone), atol=1e-4, rtol=0)
    torch.testing.assert_close(effects.mean, (effects.after - effects.before).mean(dim=1))


def test_as_many_passes_as_memory_asks_for_give_the_same(model, clean, monkeypatch) -> None:
    whole = head_effects(model, clean).after
    asked = []
    logits_under = type(model).logits_under
    monkeypatch.setattr(runs, "_MOST_COPIES", 13)
    monkeypatch.setattr(
        type(model), "logits_under",
        lambda self, trace, edits, **how: asked.append(len(edits.rows)) or logits_under(self, trace, edits, **how),
    )  # fmt: skip
    torch.testing.assert_close(head_effects(model, clean).after, whole, atol=1e-5, rtol=0)
    assert asked == [13, 13, 13, 6]


def test_what_was_done_before_stays_in_force(model, make_trace) -> None:
    done = make_trace(
        "A big red dog jumped.", attnviz.ablate("cross", layer=1), attnviz.ablate("encoder_self", layer=0)
    )
    effects = head_effects(model, done)
    gone = [
        at for at, (kind, layer, _) in enumerate(effects.places) if (kind, layer) in (("cross", 1), ("encoder_self", 0))
    ]
    torch.testing.assert_close(effects.per_token[gone], torch.zeros_like(effects.per_token[gone]), atol=1e-4, rtol=0)


def test_translations_without_a_head_are_what_translate_writes_without_it(model, make_trace) -> None:
    clean = make_trace("I love fun.")
    found = translations_without(model, clean)
    assert len(found) == 45
    for place in list(found)[::22]:
        expected = model.trace(clean.src_text, to="fr", max_tokens=24, interventions=ablate_head(model, clean, place))
        assert found[place] == expected.tgt_text
    assert len(set(found.values())) > 1


def test_an_effect_is_told_in_units_of_its_spread(model, make_trace, clean) -> None:
    texts = ("I love fun.", "A pond.")
    reference = reference_effects(model, [make_trace(text) for text in texts])
    means = torch.stack([head_effects(model, make_trace(text)).mean for text in texts])
    torch.testing.assert_close(reference.spread, means.std(dim=0))
    effects = head_effects(model, clean)
    expected = (effects.mean - means.mean(dim=0)) / means.std(dim=0)
    torch.testing.assert_close(reference.in_spreads(effects), expected)
    with pytest.raises(ValueError, match="at least two sentences"):
        reference_effects(model, [clean])


def test_a_trace_without_logits_is_refused(model, clean) -> None:
    with pytest.raises(ValueError, match="no probabilities"):
        head_effects(model, replace(clean, logits=None))
