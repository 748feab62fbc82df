"""The analyses of causes on checkpoints: all heads at once, patching, the lens, and attribution where there is one."""

import pytest
import torch

import attnviz
from attnviz.analysis.attribution import LogitTarget, attribution
from attnviz.analysis.projections import NotPlain
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.causes.numbers.effects import head_effects, translations_without
from attnviz.causes.numbers.lens import lens_logits
from attnviz.causes.numbers.pair import LogitDifference
from attnviz.causes.numbers.patching import patched_heads, patched_stream
from tests.models.huggingface.checkpoints import PAIRS

pytestmark = pytest.mark.computes

TEXT, TARGET = "A cat sat on it.", "I love you."


@pytest.fixture(scope="module")
def make_trace(model):
    def run(name, text=TEXT, *done):
        how = {"tgt_text": TARGET} if name in PAIRS else {} if name == "bert" else {"new_tokens": 0}
        return model(name).trace(text, interventions=done, **how)

    return run


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5"])
def test_every_head_at_once_is_each_by_itself(name, model, make_trace) -> None:
    trace = make_trace(name)
    effects = head_effects(model(name), trace)
    rows = [row for row, token in enumerate(trace.sentences[0].tgt_out) if token.id >= 0]
    ids = torch.tensor([[trace.sentences[0].tgt_out[row].id] for row in rows])
    for place in effects.places[::8]:
        kind, layer, head = place
        alone = make_trace(name, TEXT, attnviz.ablate(kind, layer=layer, heads=[head]))
        expected = alone.logits[0, rows].log_softmax(dim=-1).gather(1, ids)[:, 0]
        torch.testing.assert_close(effects.after[effects.places.index(place)], expected, atol=3e-4, rtol=1e-4)


def test_what_is_written_without_each_head(model, make_trace) -> None:
    trace = make_trace("marian", "A cat.")
    found = translations_without(model("marian"), trace)
    place = next(iter(found))
    kind, layer, head = place
    expected, _ = model("marian").write_target(
        "A cat.", interventions=[attnviz.ablate(kind, layer=layer, heads=[head])]
    )
    assert expected.startswith(found[place]) or found[place] == expected


@pytest.mark.parametrize("name", ["gpt2", "marian"])
def test_patching_into_another_sentence(name, model, make_trace) -> None:
    clean, changed = make_trace(name), make_trace(name, "A dog sat on it.")
    lead = (clean.logits - changed.logits)[0, -1]
    metric = LogitDifference(clean.logits.shape[1] - 1, int(lead.argmax()), int(lead.argmin()))
    heads = patched_heads(model(name), clean, changed, metric)
    kind, layer, head = heads.places[-1]
    alone = make_trace(name, "A dog sat on it.", attnviz.patch(clean, kind, layer=layer, heads=[head]))
    assert float(heads.patched[-1]) == pytest.approx(metric.value(alone), abs=5e-4)
    stream = patched_stream(model(name), clean, changed, metric, stack="decoder")
    assert float(stream.share[-1, metric.step]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_the_lens_ends_with_the_models_own_logits(name, model, make_trace) -> None:
    trace = make_trace(name)
    found = lens_logits(model(name), trace, "encoder" if name == "bert" else "decoder")
    assert torch.equal(found[-1], trace.logits[0])
    assert not torch.equal(found[-2], found[-1])


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "qwen3", "phi", "gpt_neox", "t5"])
def test_logits_of_pre_norm_models_are_sums(name, model, make_trace) -> None:
    trace = make_trace(name)
    maps = residual_maps(model(name), trace)
    assert isinstance(maps, ResidualMaps), maps.why
    for row in range(0, trace.logits.shape[1], 2):
        spread = float(trace.logits[0, row].max() - trace.logits[0, row].min())
        for id_ in (3, 50):
            found = attribution(maps, trace, LogitTarget(row, id_))
            assert abs(found.total - found.logit) <= 2e-5 * spread


@pytest.mark.parametrize("name", ["bert", "marian", "bart"])
def test_post_norm_models_say_so(name, model, make_trace) -> None:
    found = residual_maps(model(name), make_trace(name))
    assert isinstance(found, NotPlain)
    assert "no exact split over layers" in found.why
