"""The projections that are found by watching a pass are the model's own; an unsupported site gives a reason."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
import torch
from transformers.models.llama import modeling_llama

from attnviz.analysis.inputs import observed_inputs, site_inputs, site_module
from attnviz.analysis.projections import NotPlain, fits, projections
from attnviz.analysis.rerun import write_again
from attnviz.anatomy.implementations.numbers.bug_in_model import bug_in_model
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.steps import RIGHT
from attnviz.implementations.ways import AnnotatedAttention
from attnviz.implementations.weights import SiteWeights
from attnviz.models.huggingface import HuggingFaceModel, load
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer.probe import Site
from tests.models.huggingface import checkpoints

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], HuggingFaceModel]:
    """Load a checkpoint by attnviz, each once."""

    def make(name: str) -> HuggingFaceModel:
        folder = checkpoints.save(tmp_path_factory.mktemp("hf") / name, checkpoints.ALL[name])
        found = load(folder, device=torch.device("cpu"), dtype=torch.float32)
        assert isinstance(found, HuggingFaceModel)
        return found

    return cache(make)


def test_the_translators_are_found_as_it_keeps_them() -> None:
    own = tiny_translator()
    trace = own.trace("a big red dog", to="fr")
    found = projections(own, trace, trace.calls)
    assert found.keys() == trace.calls.keys()
    for site, weights in found.items():
        kept = SiteWeights.from_module(site_module(own, site))
        pairs = zip(weights.pairs, kept.pairs, strict=True)
        assert all(torch.equal(one, other) for pair in pairs for one, other in zip(*pair, strict=True))
        inputs, watched = (
            site_inputs(own, trace, site.kind, site.layer),
            observed_inputs(weights, trace, site.kind, site.layer),
        )
        assert inputs.norm_first == watched.norm_first
        assert weights.n_groups == weights.n_heads
        assert torch.equal(inputs.input_, watched.input_)


def test_berts_are_its_named_linear_maps(model) -> None:
    bert = model("bert")
    (found,) = projections(bert, bert.trace(TEXT), [Site("encoder_self", 1)]).values()
    layer = bert.network.model.bert.encoder.layer[1].attention
    own = (layer.self.query, layer.self.key, layer.self.value, layer.output.dense)
    assert all(torch.equal(weight, kept.weight) for (weight, _), kept in zip(found.pairs, own, strict=True))
    assert all(torch.equal(bias, kept.bias) for (_, bias), kept in zip(found.pairs, own, strict=True))


def test_gpt2s_are_thirds_of_its_turned_fused_map(model) -> None:
    gpt2 = model("gpt2")
    (found,) = projections(gpt2, gpt2.trace(TEXT), [Site("decoder_self", 2)]).values()
    attn = gpt2.network.model.transformer.h[2].attn
    thirds = zip(found.pairs[:3], attn.c_attn.weight.T.chunk(3), attn.c_attn.bias.chunk(3), strict=True)
    assert all(torch.equal(weight, own) and torch.equal(bias, b) for (weight, bias), own, b in thirds)
    assert torch.equal(found.W_o, attn.c_proj.weight.T)


@pytest.mark.parametrize("name", ["bert", "albert", "gpt2", "bart"])
def test_a_whole_model_made_of_them_says_the_same(model, name: str) -> None:
    """Right steps on what was found, at every site: the logits stay, and a wrong step moves them."""
    loaded = model(name)
    trace = loaded.trace(TEXT)
    found = projections(loaded, trace, trace.calls)
    right, wrong = (bug_in_model(loaded, trace, steps, found) for steps in (RIGHT, BUGS["no_scale"].steps))
    assert right.logits_change < 1e-4 < 1e-2 < wrong.logits_change
    assert right.before == right.after


def test_another_matrix_is_not_taken_for_a_sites_own(model) -> None:
    bert = model("bert")
    trace = bert.trace(TEXT)
    (found,) = projections(bert, trace, [Site("encoder_self", 1)]).values()
    assert fits(found, trace.call("encoder_self", 1))
    assert not fits(found, trace.call("encoder_self", 0))
    nearly = found.W_k.clone()
    nearly[3] *= 1.001
    with pytest.raises(ValueError, match="do not give this run's queries, keys and values"):
        observed_inputs(replace(found, W_k=nearly), trace, "encoder_self", 1)


@pytest.mark.parametrize("name", ["bert", "gpt2", "bart"])
def test_a_case_has_the_mask_and_the_weights_of_the_run(model, name: str) -> None:
    loaded = model(name)
    trace = loaded.trace([TEXT, "It sleeps."]) if name != "gpt2" else loaded.trace([TEXT, "It sleeps."], new_tokens=0)
    for kind in trace.kinds:
        (found,) = projections(loaded, trace, [Site(kind, 1)]).values()
        inputs = observed_inputs(found, trace, kind, 1)
        _, attn = AnnotatedAttention(inputs.weights)(*inputs.call)
        for item in range(2):
            own = trace.attn(kind, layer=1, item=item)  # the padding after the shorter one is left out
            assert torch.allclose(attn[item][:, : own.shape[1], : own.shape[2]], own, atol=1e-5)


def test_heads_that_share_keys_have_the_same_rows_once_for_each(model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Llama's groups, with its rotation taken out: six heads on two groups of keys."""
    monkeypatch.setattr(modeling_llama, "apply_rotary_pos_emb", lambda query, key, *_, **__: (query, key))
    llama = model("llama")
    trace = llama.trace(TEXT)
    (found,) = projections(llama, trace, [Site("decoder_self", 1)]).values()
    own = llama.network.model.model.layers[1].self_attn
    assert isinstance(found, SiteWeights)
    assert torch.equal(found.W_q, own.q_proj.weight)
    for weight, kept in ((found.W_k, own.k_proj.weight), (found.W_v, own.v_proj.weight)):
        assert torch.equal(weight, kept.unflatten(0, (2, -1)).repeat_interleave(3, dim=0).flatten(0, 1))
    assert torch.equal(found.W_o, own.o_proj.weight)
    assert observed_inputs(found, trace, "decoder_self", 1).weights.n_heads == 6
    assert found.n_groups == 2


def test_heads_that_are_changed_before_they_are_joined_are_joined_by_no_linear_map(model) -> None:
    bert = model("bert")
    dense = bert.network.model.bert.encoder.layer[1].attention.output.dense
    changed = dense.register_forward_pre_hook(lambda module, given: (2 * given[0],))
    found = projections(bert, bert.trace(TEXT), [Site("encoder_self", layer) for layer in (0, 1)])
    changed.remove()
    assert isinstance(found[Site("encoder_self", 0)], SiteWeights)
    assert found[Site("encoder_self", 1)] == NotPlain("no linear map joins its heads")


def test_a_checkpoint_writes_no_further_than_it_has_positions(model) -> None:
    bart = model("bart")
    (written,) = write_again(bart, bart.trace("The cat sat on the mat, and it slept on and on."), None, cached=False)
    assert len(written.tokens) == checkpoints.POSITIONS
    assert written.note == f"cut after {checkpoints.POSITIONS} tokens without an end token"
