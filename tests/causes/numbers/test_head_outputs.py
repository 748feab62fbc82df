"""What heads write from keys: the norms add up to the vectors that they are of, and shares to 1."""

import pytest
import torch

import attnviz
from attnviz.analysis.mixing import norms, shares_of_heads, stream_before
from attnviz.analysis.output_maps import output_maps
from attnviz.analysis.residual import residual_maps
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer.probe import Site

OFF = attnviz.ablate("cross", layer=1, heads=[1])


@pytest.fixture(scope="module")
def model():
    return tiny_translator()


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_a_norm_is_that_of_the_vector_which_ablation_of_a_key_takes_away(model, kind: str) -> None:
    trace, site = model.trace("I love you", to="fr"), Site(kind, 1)
    own = output_maps(model, trace)[site]
    written = norms(own, trace, site)
    attn, value = trace.attn(kind, layer=1), trace.call(kind, 1).value[0]
    for head, row, key in ((0, 1, 0), (1, 2, 1)):
        vector = attn[head, row, key] * value[head, key] @ own.weight[head]
        assert float(written[head, row, key]) == pytest.approx(float(vector.norm()), rel=1e-5)
    whole = own.head_outputs(trace.context(kind, 1)).norm(dim=-1)
    assert bool((whole <= written.sum(dim=-1) * (1 + 1e-5)).all())  # the triangle
    assert not written[attn == 0].any()


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_shares_of_all_heads_and_what_was_there_before_sum_to_one(model, kind: str) -> None:
    trace = model.trace("I love you", to="fr")
    maps = residual_maps(model, trace)
    shares = shares_of_heads(maps, trace, Site(kind, 0))
    assert shares.shape == trace.attn(kind, layer=0).shape
    assert bool((shares >= 0).all())
    own, row = maps.output(kind, 0), 1
    before = stream_before(maps, trace, kind, 0, 0)[row]
    value = trace.call(kind, 0).value[0].double() @ own.weight.double()
    parts = [*(trace.attn(kind, layer=0)[:, row].double().unsqueeze(-1) * value).flatten(0, 1), before]
    whole = torch.stack(parts).sum(dim=0) + own.bias.double()
    near = [max(0.0, float(whole.abs().sum() - (part - whole).abs().sum())) for part in parts]
    assert float(shares[:, row].sum()) + near[-1] / sum(near) == pytest.approx(1, abs=1e-6)
    assert not shares[trace.attn(kind, layer=0) == 0].any()


def test_a_head_that_is_off_writes_nothing_and_the_others_do(model) -> None:
    trace, site = model.trace("I love you", to="fr", interventions=[OFF]), Site("cross", 1)
    for written in (
        norms(output_maps(model, trace)[site], trace, site),
        shares_of_heads(residual_maps(model, trace), trace, site),
    ):
        assert not written[1].any()
        assert bool(written[0].any())
