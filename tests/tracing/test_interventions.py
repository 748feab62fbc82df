"""Interventions change the sites and heads that they name, and nothing else before them."""

import pytest
import torch

from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.causes.edits import Edit, Edits
from attnviz.tracing.interventions import Chain, MaskOverride
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer import masks
from attnviz.transformer.attention import attend, call_attn
from attnviz.transformer.probe import AttentionCall, Site

KINDS = ("encoder_self", "decoder_self", "cross")


@pytest.fixture(scope="module")
def model():
    return tiny_translator(n_heads=5, n_layers=3)


@pytest.fixture(scope="module")
def trace(model) -> Trace:
    return model.trace("I love machine learning.", to="fr", tgt_text="je t'aime un chien")


def window(q_len: int, k_len: int) -> torch.Tensor:
    return masks.sliding_window(q_len, k_len, reach=1) & masks.wait(q_len, k_len, lead=1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mask_in_force_is_the_one_given_at_one_head_only(model, trace: Trace, kind) -> None:
    after = model.rerun(trace, MaskOverride([Site(kind, 1)], window, head=3))
    q_len, k_len = trace.attn(kind, layer=1, head=3).shape
    assert torch.equal(after.mask(kind, layer=1, head=3), window(q_len, k_len)[0])
    for head in (0, 1, 2, 4):
        assert torch.equal(after.mask(kind, layer=1, head=head), trace.mask(kind, layer=1, head=head))
        torch.testing.assert_close(after.attn(kind, layer=1, head=head), trace.attn(kind, layer=1, head=head))


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_scope_changes_all_heads_of_that_layer(model, trace: Trace, kind) -> None:
    after = model.rerun(trace, MaskOverride([Site(kind, 1)], window))
    for layer in range(trace.n_layers):
        wanted = layer == 1
        expected = window(*trace.attn(kind, layer=0, head=0).shape)[0] if wanted else trace.mask(kind, layer=layer)
        assert all(torch.equal(after.mask(kind, layer=layer, head=head), expected) for head in range(trace.n_heads))


@pytest.mark.parametrize("kind", KINDS)
def test_every_layer_of_the_kind_and_no_other_kind(model, trace: Trace, kind) -> None:
    after = model.rerun(trace, MaskOverride([Site(kind, layer) for layer in range(3)], window))
    for other in KINDS:
        for layer in range(3):
            shape = trace.attn(other, layer=layer, head=0).shape
            expected = window(*shape)[0] if other == kind else trace.mask(other, layer=layer)
            assert torch.equal(after.mask(other, layer=layer), expected)


def test_sites_before_the_intervention_are_bitwise_unchanged(model, trace: Trace) -> None:
    plain = model.rerun(trace)
    after = model.rerun(trace, MaskOverride([Site("decoder_self", 1)], window, head=0))
    for kind, layers in (("encoder_self", (0, 1, 2)), ("decoder_self", (0,)), ("cross", (0,))):
        for layer in layers:
            assert torch.equal(after.attn(kind, layer=layer), plain.attn(kind, layer=layer))
    assert not torch.equal(after.attn("decoder_self", layer=2), plain.attn("decoder_self", layer=2))


def test_the_models_own_mask_put_in_its_place_changes_nothing(model, trace: Trace) -> None:
    own = MaskOverride([Site("decoder_self", layer) for layer in range(3)], lambda q, k: masks.causal(q, k))
    torch.testing.assert_close(model.rerun(trace, own).logits, model.rerun(trace).logits, atol=1e-6, rtol=0)


def test_a_way_of_weighing_reaches_the_context_of_its_head_only(model, trace: Trace) -> None:
    probe = MaskOverride(
        [Site("cross", 0)], window, head=2, weigh=lambda call: torch.zeros_like(call.query @ call.key.mT)
    )
    after = model.rerun(trace, probe)
    contexts = after.context("cross", 0)
    assert contexts[2].abs().max() == 0
    torch.testing.assert_close(contexts[[0, 1, 3, 4]], trace.context("cross", 0)[[0, 1, 3, 4]], atol=1e-5, rtol=0)


def test_start_takes_the_rows_that_belong_to_a_cached_step() -> None:
    call = AttentionCall(torch.randn(1, 2, 1, 3), torch.randn(1, 2, 4, 3), torch.randn(1, 2, 4, 3), scale=1.0)
    changed = MaskOverride([Site("decoder_self", 0)], window).start_at(3).on_call(Site("decoder_self", 0), call)
    assert changed.mask is not None
    assert changed.mask.tolist() == [[[[False, False, True, True]]]]


def test_probes_in_a_chain_see_what_the_one_before_made() -> None:
    site = Site("cross", 0)
    call = AttentionCall(torch.randn(1, 1, 2, 3), torch.randn(1, 1, 4, 3), torch.randn(1, 1, 4, 3), scale=1.0)
    recorder = Recorder()
    uniform = MaskOverride([site], masks.full, weigh=lambda call: torch.full((1, 1, 2, 4), 0.25))
    gone = Edits(((Edit(site, "context", "zero", heads=(0,)),),))
    halved = MaskOverride([site], window, weigh=lambda call: torch.full((1, 1, 2, 4), 0.5))
    out = attend(call, site, probe=Chain((uniform, halved, gone, recorder)))
    assert out.abs().max() == 0
    assert torch.equal(recorder.contexts[site], out)
    assert recorder.calls[site].mask is not None
    assert torch.equal(recorder.calls[site].mask, window(2, 4).unsqueeze(1))
    assert torch.equal(call_attn(recorder.calls[site]), torch.full((1, 1, 2, 4), 0.5))


def test_weights_that_were_put_there_are_what_the_trace_shows(model, trace: Trace) -> None:
    probe = MaskOverride([Site("cross", 1)], masks.full, head=3, weigh=lambda call: call_attn(call).flip(-1))
    after = model.rerun(trace, probe)
    torch.testing.assert_close(after.attn("cross", layer=1, head=3), trace.attn("cross", layer=1, head=3).flip(-1))
    torch.testing.assert_close(after.attn("cross", layer=1, head=2), trace.attn("cross", layer=1, head=2))
