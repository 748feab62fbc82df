"""Where layers normalise what goes through them, the last layer's parts sum to the logit: on others' own classes."""

import pytest

import attnviz
from attnviz.analysis.attribution import LogitTarget
from attnviz.analysis.projections import NotPlain
from attnviz.analysis.residual import residual_maps
from attnviz.causes.numbers.last_layer import LastLayer, last_layer
from attnviz.models.catalogue import load
from attnviz.transformer.probe import Site
from tests.models.huggingface import checkpoints


@pytest.fixture(scope="module", params=["bart", "marian"])
def post_norm_model(request, tmp_path_factory):
    """Make a Hugging Face encoder-decoder with norms behind its sums."""
    folder = tmp_path_factory.mktemp("hf") / request.param
    return load(str(checkpoints.save(folder, checkpoints.ALL[request.param])))


def parts_of(found, kind):
    return [part.value for part in found.parts if part.part == "head" and part.kind == kind]


def test_the_last_layers_parts_sum_to_the_logit_also_under_an_intervention(post_norm_model) -> None:
    layers, heads = post_norm_model.shapes["cross"]
    plain = post_norm_model.trace("I love dogs and cats", tgt_text="I love you")
    without = post_norm_model.trace(
        "I love dogs and cats",
        tgt_text="I love you",
        interventions=[attnviz.ablate("cross", layer=layers - 1, heads=[1])],
    )
    assert isinstance(residual_maps(post_norm_model, plain), NotPlain), "there is no split over all layers"
    for trace in (plain, without):
        last = last_layer(post_norm_model, trace)
        assert isinstance(last, LastLayer)
        for row in range(trace.logits.shape[1]):
            for asked in (LogitTarget(row, 5), LogitTarget(row, 9, 4)):
                found = last.attribution(trace, asked)
                spread = float(trace.logits[0, row].max() - trace.logits[0, row].min())
                assert abs(found.total - found.logit) <= 1e-5 * spread
                assert len(found.parts) == 1 + 2 * (heads + 1) + 1 + 3 + 1
    assert parts_of(last.attribution(without, LogitTarget(0, 5)), "cross")[1] == 0
    assert parts_of(last_layer(post_norm_model, plain).attribution(plain, LogitTarget(0, 5)), "cross")[1] != 0


def test_its_heads_open_into_the_tokens_that_they_look_at(post_norm_model) -> None:
    trace = post_norm_model.trace("I love dogs and cats", tgt_text="I love you")
    last, asked = last_layer(post_norm_model, trace), LogitTarget(2, 7)
    for kind in ("decoder_self", "cross"):
        opened = last.key_attribution(trace, asked, Site(kind, last.layer))
        assert opened.shape[1] == len(trace.key_tokens(kind))
        assert opened.sum(dim=1).tolist() == pytest.approx(parts_of(last.attribution(trace, asked), kind), abs=1e-4)


def test_a_model_whose_end_is_no_such_sum_says_why(tmp_path) -> None:
    bert = load(str(checkpoints.save(tmp_path / "bert", checkpoints.ALL["bert"])))
    found = last_layer(bert, bert.trace("I love dogs"))
    assert isinstance(found, NotPlain)
    assert "not a linear map" in found.why
