"""How much heads matter: gradients agree with differences, ablation with runs without the head."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.corpus import reading
from attnviz.analysis.corpus.lines import lines_of
from attnviz.analysis.corpus.reading import log_probabilities, read_corpus
from attnviz.causes.corpus.numbers.change_counts import log_probabilities_under
from attnviz.causes.corpus.numbers.importance import ablation_importance, gradient_importance
from attnviz.causes.corpus.numbers.pruning import switch_off_heads
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer.probe import Probe


@pytest.fixture(scope="module")
def gradient(model, corpus):
    return gradient_importance(model, corpus)


class Louder(Probe):
    """One head's context, larger by a factor."""

    def __init__(self, place, factor) -> None:
        self.place, self.factor = place, factor

    def on_context(self, site, context):
        kind, layer, head = self.place
        if (site.kind, site.layer) != (kind, layer):
            return context
        changed = context.clone()
        changed[:, head] *= self.factor
        return changed


@pytest.mark.parametrize("place", [("encoder_self", 0, 1), ("decoder_self", 1, 0), ("cross", 0, 2)])
def test_the_gradient_agrees_with_a_difference(place, model, corpus, gradient) -> None:
    exact = model.copy_in_dtype(torch.float64)
    apart = 1e-4

    def likely(batch, factor):
        return log_probabilities(corpus, batch, exact.rerun(batch.trace, Louder(place, factor)).logits)

    nth = gradient.places.index(place)
    for batch in corpus.batches(model):
        slope = (likely(batch, 1 + apart) - likely(batch, 1 - apart)) / (2 * apart)
        found = gradient.signed[list(batch.items), nth]
        torch.testing.assert_close(found, slope, atol=5e-3, rtol=1e-3)
        assert bool((gradient.amounts[list(batch.items), nth] >= found.abs() - 1e-9).all())


def test_a_head_that_is_not_written_out_matters_nothing(corpus) -> None:
    silent = tiny_translator(seed=3, n_heads=3, n_layers=2, d_k=6)
    silent.model.decoder.layers[1].cross_attention.W_o.weight[:, 6:12] = 0
    for found in (gradient_importance(silent, corpus), ablation_importance(silent, corpus)):
        nth = found.places.index(("cross", 1, 1))
        assert float(found.of_heads[nth].abs()) < 1e-6
        assert int((found.of_heads.abs() > 1e-4).sum()) == len(found.places) - 1


def test_single_runs_give_what_batches_give(model, corpus, gradient, monkeypatch) -> None:
    monkeypatch.setattr(reading, "BATCH_TOKENS", 1)
    single = gradient_importance(model, corpus)
    torch.testing.assert_close(single.amounts, gradient.amounts, atol=1e-5, rtol=1e-4)


def test_ablation_is_what_the_targets_lose_without_the_head(model, corpus) -> None:
    found = ablation_importance(model, corpus)
    lost = log_probabilities_under(model, corpus, ()) - log_probabilities_under(
        model, corpus, switch_off_heads(found.places[4:5])
    )
    torch.testing.assert_close(found.amounts[:, 4], lost, atol=1e-4, rtol=0)
    expected = lost.sum() / corpus.target_tokens.sum()
    assert float(found.of_heads[4]) == pytest.approx(float(expected), abs=1e-5)
    table = found.table()
    assert float(table["importance"][4]) == pytest.approx(float(expected), abs=1e-5)
    assert float(table["helped"][4]) == pytest.approx(float((lost > 0).double().mean()))


def test_stopping_keeps_what_was_done(model, corpus) -> None:
    heard = []
    stop = Cancellable(lambda *both: heard.append(both), lambda: len(heard) == 3)
    found = ablation_importance(model, corpus, stop=stop)
    assert found.sentences == 2
    first = replace(corpus, lines=corpus.lines[:2], sentences=corpus.sentences[:2])
    torch.testing.assert_close(found.of_heads, ablation_importance(model, first).of_heads)


def test_a_model_that_puts_out_no_text_has_no_importance(model) -> None:
    corpus = read_corpus(model, lines_of("A pond."), to="fr")
    empty = replace(corpus, sentences=(replace(corpus.sentences[0], tgt=()),))
    with pytest.raises(ValueError, match=r"Line 1 \(“A pond.”\) has no target"):
        gradient_importance(model, empty)


def test_a_rerun_outside_importance_keeps_no_gradients(model, corpus) -> None:
    trace = model.rerun(corpus.one_sentence(0), attnviz.transformer.probe.Probe())
    assert trace.logits.is_inference()
