"""The parts of a logit sum to it, and each part is right; a model without an exact sum is refused with a reason."""

import pytest
import torch

import attnviz
from attnviz.analysis.attribution import LogitTarget, attribution, key_attribution
from attnviz.analysis.projections import NotPlain
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.probe import Site
from attnviz.transformer.transformer import Transformer


@pytest.fixture(scope="module")
def model():
    """Make a model whose last norm has a gain and a bias, as a trained one's has."""
    made = tiny_translator(seed=3, n_heads=5, n_layers=3, d_k=14)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        made.model.decoder.norm.weight.uniform_(0.5, 1.5, generator=generator)
        made.model.decoder.norm.bias.uniform_(-0.5, 0.5, generator=generator)
    return made


@pytest.fixture(scope="module")
def make_trace(model):
    return lambda text, *done: model.trace(text, to="fr", tgt_text="un chien rouge", interventions=done)


@pytest.fixture(scope="module")
def again(make_trace):
    return make_trace("A big red dog jumped.")


@pytest.fixture(scope="module")
def maps(model, again):
    found = residual_maps(model, again)
    assert isinstance(found, ResidualMaps)
    return found


def test_the_parts_sum_to_the_logit(maps, again, make_trace) -> None:
    for trace in (
        again,
        make_trace("I love fun."),
        make_trace("A pond.", attnviz.ablate("cross", layer=1, heads=[0, 3])),
    ):
        for row in range(trace.logits.shape[1]):
            for id_ in (5, int(trace.logits[0, row].argmax())):
                found = attribution(maps, trace, LogitTarget(row, id_))
                spread = float(trace.logits[0, row].max() - trace.logits[0, row].min())
                assert found.logit == float(trace.logits[0, row, id_])
                assert abs(found.total - found.logit) <= 1e-5 * spread
    assert len(attribution(maps, again, LogitTarget(0, 5)).parts) == 1 + 3 * (2 * 5 + 2 + 1) + 2


def test_a_lead_is_the_difference_of_two_sums(maps, again) -> None:
    one, other, lead = (attribution(maps, again, LogitTarget(2, *ids)) for ids in ((9,), (4,), (9, 4)))
    for a, b, both in zip(one.parts, other.parts, lead.parts, strict=True):
        assert both.value == pytest.approx(a.value - b.value, abs=1e-9)


def test_heads_open_into_the_tokens_that_they_look_at(maps, again) -> None:
    asked = LogitTarget(2, 9)
    bars = attribution(maps, again, asked).parts
    for kind in ("cross", "decoder_self"):
        opened = key_attribution(maps, again, asked, Site(kind, 1))
        own = [part.value for part in bars if (part.part, part.kind, part.layer) == ("head", kind, 1)]
        assert opened.sum(dim=1).tolist() == pytest.approx(own, abs=1e-4)
        unseen = ~again.mask(kind, layer=1)[2]
        assert not opened[:, unseen].any()


def test_what_an_intervention_put_there_no_token_gave(maps, make_trace) -> None:
    gone = make_trace("A big red dog jumped.", attnviz.ablate("cross", layer=1, heads=[0, 3]))
    opened = key_attribution(maps, gone, LogitTarget(2, 9), Site("cross", 1))
    assert not opened[[0, 3]].any()
    bars = [part.value for part in attribution(maps, gone, LogitTarget(2, 9)).parts
            if (part.part, part.kind, part.layer) == ("head", "cross", 1)]  # fmt: skip
    assert opened.sum(dim=1).tolist() == pytest.approx(bars, abs=1e-4)


def test_the_norm_is_the_models_own(model, maps) -> None:
    norm = model.model.decoder.norm
    torch.testing.assert_close(maps.norm.gain.float(), norm.weight, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(maps.norm.bias.float(), norm.bias, atol=1e-4, rtol=1e-4)
    trace = model.trace("I love fun.", to="fr", max_tokens=2)
    bias = [part for part in attribution(maps, trace, LogitTarget(0, 9)).parts if part.part == "norm bias"]
    assert bias[0].value == pytest.approx(float(norm.bias @ model.model.embedding.weight[9]), abs=1e-3)


def test_a_post_norm_model_says_that_it_has_no_exact_split() -> None:
    tiny = tiny_translator(seed=1, n_heads=3, n_layers=2)
    config = ModelConfig(**(tiny.model.config.to_dict() | {"norm_first": False}))
    after = Translator(Transformer(config).initialise(2).requires_grad_(False).eval(), tiny.codec, model_id="post")
    found = residual_maps(after, after.trace("I love fun.", to="fr", tgt_text="un chien"))
    assert isinstance(found, NotPlain)
    assert "no exact split over layers" in found.why


def test_what_cannot_be_asked_is_said(maps, again, make_trace) -> None:
    for asked, says in (
        (LogitTarget(99, 1), "There is no row 99"),
        (LogitTarget(0, 10**6), "There is no token 1000000"),
        (LogitTarget(0, 5, 5), "Please choose two different tokens"),
    ):
        with pytest.raises(ValueError, match=says):
            attribution(maps, again, asked)
    patched = make_trace("I love fun.", attnviz.patch(make_trace("I love fun."), "decoder", layer=0, what="layer"))
    with pytest.raises(ValueError, match="Hidden states of this trace were patched"):
        attribution(maps, patched, LogitTarget(0, 1))
